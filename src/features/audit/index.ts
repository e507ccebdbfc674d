import { auditKind } from '../../core/audit/audit.ts'
import type { Feature, TogetherOf } from '../../core/feature.ts'
import type { AuditLog } from './api.ts'
import type { Served } from './routes.ts'
import { createAuditLog, createRecordContentRead, type RecordContentRead } from './service.ts'

/** The record of what is done by hand. The features make its entries, in the commits of their changes. */
export const audit: Feature<
  Served & TogetherOf<{ readonly auditLog: AuditLog }> & { readonly recordContentRead: RecordContentRead }
> = {
  name: 'audit',
  create(core) {
    const methods = { auditLog: createAuditLog(core) }
    return {
      api: { tenants: methods, together: methods, recordContentRead: createRecordContentRead(core) },
      expiring: [{ kind: auditKind, after: 'auditDays' }],
    }
  },
}
