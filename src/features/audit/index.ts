import { auditKind } from '../../core/audit/audit.ts'
import type { Feature, FeatureCore, TogetherOf } from '../../core/feature.ts'
import type { AuditLog } from './api.ts'
import type { Served } from './routes.ts'
import { createAuditLog, createRecordContentRead, type RecordContentRead } from './service.ts'

interface AuditServices extends FeatureCore {
  /** How long entries are kept. Null: no limit. */
  readonly auditDays: number | null
}

const DAY_MS = 86_400_000

/** The record of what is done by hand. The features make its entries, in the commits of their changes. */
export const audit: Feature<
  Served & TogetherOf<{ readonly auditLog: AuditLog }> & { readonly recordContentRead: RecordContentRead },
  AuditServices
> = {
  name: 'audit',
  create(core) {
    const methods = { auditLog: createAuditLog(core) }
    const expiring =
      core.auditDays === null ? [] : [{ kind: auditKind, olderThanMs: core.auditDays * DAY_MS }]
    return {
      api: { tenants: methods, together: methods, recordContentRead: createRecordContentRead(core) },
      expiring,
    }
  },
}
