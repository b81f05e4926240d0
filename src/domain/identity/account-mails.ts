import type { Config } from '../../config.js';
import { Organization } from '../../entities/identity/organization.js';
import { PasswordPurpose } from '../../entities/identity/password-token.js';
import { User } from '../../entities/identity/user.js';
import type { MailServices, MailText, MailWriters } from '../mail/index.js';
import { normalEmail } from './login-guard.js';
import { newPasswordToken } from './password-tokens.js';

/** Where the page is that sets a password; src/gateway/password-page.ts. */
export const PASSWORD_PATH = '/account/password';

export const accountMails: Omit<MailWriters, 'notice'> = {
  async password_reset(services, { email }, mailId) {
    const user = await findUser(services, { email: normalEmail(email) });
    if (user === undefined) return undefined;
    const link = await passwordLink(services, user, { purpose: PasswordPurpose.reset, mailId });
    if (link === undefined) return undefined;
    return {
      to: user.email,
      subject: 'Set a new password',
      text: lines(
        `Hello ${user.name},`,
        'somebody, most likely you, asked for a new password. Within an hour this link sets one, once:',
        link,
        'If it was not you, ignore this mail: your password stays as it is.',
      ),
    };
  },

  async invitation(services, { userId }, mailId) {
    const user = await findUser(services, { id: userId });
    if (user === undefined || user.passwordHash !== null) return undefined;
    const link = await passwordLink(services, user, { purpose: PasswordPurpose.invitation, mailId });
    if (link === undefined) return undefined;
    const organization = await services.orm.em
      .fork()
      .findOneOrFail(Organization, { id: user.organizationId });
    return {
      to: user.email,
      subject: `Your account at ${organization.name}`,
      text: lines(
        `Hello ${user.name},`,
        `you have been given an account at ${organization.name}. Within seven days this link sets its password, once:`,
        link,
        `After that, ask for a new one with your e-mail address.`,
      ),
    };
  },

  async password_changed(services, { userId }) {
    const user = await findUser(services, { id: userId });
    return user && passwordChanged(user);
  },
};

function passwordChanged(user: User): MailText {
  return {
    to: user.email,
    subject: 'Your password was changed',
    text: lines(
      `Hello ${user.name},`,
      'the password of your account was changed and its other sessions were ended.',
      'If it was not you, ask for a new password at once and tell your administrator.',
    ),
  };
}

/** Whoever cannot log in gets no mail. */
async function findUser(
  { orm }: MailServices,
  where: { id: string } | { email: string },
): Promise<User | undefined> {
  const user = await orm.em.fork().findOne(User, { ...where, active: true }, { filters: false });
  return user ?? undefined;
}

/** The token stands behind the # of the link: no server on the way, and no log, gets to see it. */
async function passwordLink(
  { orm, config, now }: MailServices,
  user: User,
  what: { purpose: PasswordPurpose; mailId: string },
): Promise<string | undefined> {
  const token = await newPasswordToken(orm.em.fork(), user, what, now());
  return token && `${installationUrl(config)}${PASSWORD_PATH}#token=${token}`;
}

/** Never from a request's Host header, which whoever asks for the mail can set. */
function installationUrl({ publicUrl, host, port }: Config): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function lines(...paragraphs: string[]): string {
  return `${paragraphs.join('\n\n')}\n`;
}
