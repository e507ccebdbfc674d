import type { Feature } from '../../core/feature.ts'
import type { TenantsOf } from '../../core/rest/route.ts'
import type { Attachments } from './api.ts'
import { completeWithUploads } from './complete.ts'
import { createUploadContents } from './contents.ts'
import { removalOfUploads } from './removal.ts'
import { createUploads, type UploadServices } from './service.ts'

export { chunkIds, uploadChunkKind } from './records.ts'
export { REST_MS, removeUpload } from './removal.ts'

/** Files that are uploaded before the messages that carry them. */
export const attachments: Feature<TenantsOf<{ readonly attachments: Attachments }>, UploadServices> = {
  name: 'attachments',
  create(core) {
    const { records } = core.storage
    return {
      api: { tenants: { attachments: createUploads(core) } },
      complete: completeWithUploads(core.kinds),
      uploads: createUploadContents(records),
      due: [removalOfUploads(records)],
    }
  },
}
