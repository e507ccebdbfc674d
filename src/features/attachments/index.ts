import type { Feature } from '../../core/feature.ts'
import type { TenantsOf } from '../../core/rest/route.ts'
import type { Attachments } from './api.ts'
import { removalOfUploads } from './removal.ts'
import { createUploads, type UploadServices } from './service.ts'

/** Files that are uploaded before the messages that carry them. */
export const attachments: Feature<TenantsOf<{ readonly attachments: Attachments }>, UploadServices> = {
  name: 'attachments',
  create: (core) => ({ api: { tenants: { attachments: createUploads(core) } } }),
  due: ({ storage }) => [removalOfUploads(storage.records)],
}
