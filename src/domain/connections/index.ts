export { connectionTarget } from './connection-target.js';
