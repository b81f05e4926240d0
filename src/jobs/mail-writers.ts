import { accountMails } from '../domain/identity/index.js';
import type { MailWriters } from '../domain/mail/index.js';

export const mailWriters: MailWriters = {
  ...accountMails,
  notice: async (_services, text) => text,
};
