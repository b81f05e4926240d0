export { type AuditLogQuery, listAuditLog } from './list-audit-log.js';
export {
  type AuditActor,
  auditSource,
  INSTALLATION,
  type NewAuditEntry,
  recordAudit,
} from './record-audit.js';
export { type ChainVerdict, verifyAuditChain } from './verify-audit-chain.js';
