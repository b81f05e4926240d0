export { deliverMail } from './deliver-mail.js';
export type { MailDetails, MailKind, MailServices, MailText, MailWriters } from './mail-request.js';
export { queueMail, SEND_MAIL } from './queue-mail.js';
export { sweepMail } from './sweep-mail.js';
