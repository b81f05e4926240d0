export { answerOnce } from './answer-once.js';
export { sweepAnswers } from './sweep-answers.js';
