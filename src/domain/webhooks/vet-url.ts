import type { Services } from '../../context.js';
import { invalidField } from '../../errors.js';

const sentences = {
  isHttps: 'url must start with https://',
  isPublicHost: 'url must not lead to a private address',
} as const;

/**
 * A name that does not resolve now is taken: each attempt vets the address it connects to anyway.
 * @throws VALIDATION_ERROR with constraint isUrl, isHttps or isPublicHost
 */
export async function vetWebhookUrl(
  { webhookSender }: Pick<Services, 'webhookSender'>,
  url: string,
): Promise<void> {
  if (!URL.canParse(url)) throw invalidField('url', 'isUrl', 'url must be a URL');
  const problem = await webhookSender.problemOf(new URL(url));
  if (problem !== undefined) throw invalidField('url', problem, sentences[problem]);
}
