import { Args, Ctx, Query, Resolver } from 'type-graphql';
import type { RequestContext } from '../../context.js';
import { listAuditLog } from '../../domain/audit/index.js';
import { Permission } from '../permission.js';
import { AuditLogArgs, AuditPage } from './audit-page.js';

@Resolver()
export class AuditResolver {
  @Query(() => AuditPage, { description: 'What happened in the organization, newest first.' })
  @Permission({ itsm: 'organization:manage:all' })
  auditLog(
    @Ctx() context: RequestContext,
    @Args(() => AuditLogArgs) query: AuditLogArgs,
  ): Promise<AuditPage> {
    return listAuditLog(context, query);
  }
}
