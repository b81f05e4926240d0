import { itsmCaller, type RequestContext } from '../../context.js';
import { AuditChain } from '../../entities/audit/audit-chain.js';
import { AuditEntry } from '../../entities/audit/audit-entry.js';
import { offsetPage, type Page, pageMode } from '../page.js';

export interface AuditLogQuery {
  page?: number | null;
  limit?: number | null;
}

/** Newest first. Positions have no gaps, so a page is a range of them, as cheap at the end as at the beginning. */
export async function listAuditLog(context: RequestContext, query: AuditLogQuery): Promise<Page<AuditEntry>> {
  const { organizationId } = itsmCaller(context);
  const mode = pageMode(query);
  if (mode.kind !== 'offset') throw new TypeError('The audit log has pages only');
  const em = context.em.fork();
  const chain = await em.findOne(AuditChain, { organizationId });
  const total = chain?.length ?? 0;
  const newest = total - mode.offset;
  const entries = await em.find(
    AuditEntry,
    { organizationId, position: { $lte: newest, $gt: newest - mode.limit } },
    { orderBy: { position: 'desc' } },
  );
  return offsetPage(mode, entries, total);
}
