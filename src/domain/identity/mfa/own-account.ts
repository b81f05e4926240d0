import { itsmCaller, type RequestContext } from '../../../context.js';
import { User } from '../../../entities/identity/user.js';
import { AppError, notFound } from '../../../errors.js';

/** The person who asks. @throws AUTHORIZATION_ERROR for an API key, whose bearer is not the person it belongs to */
export async function ownAccount(context: RequestContext): Promise<User> {
  const { userId: id, apiKey } = itsmCaller(context);
  if (apiKey) throw new AppError('AUTHORIZATION_ERROR', 'Second factors are not managed with an API key');
  const user = await context.em.fork().findOne(User, { id, active: true });
  if (!user) throw notFound('user', id);
  return user;
}
