import * as z from 'zod'
import { filename } from '../../core/channels/file-fields.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { parseInput } from '../../core/input/parse.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import { deleted } from '../../core/rest/schemas.ts'
import type { Attachments } from './api.ts'
import { uploadRecord } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
type Served = TenantsOf<{ readonly attachments: Attachments }> & {
  /** Largest uploaded file in bytes. */
  readonly maxUploadBytes: number
}

const TAG: Tag = {
  name: 'Attachments',
  description: 'Files that are uploaded before the mails that carry them.',
}

const uploadQuery = z.object({ filename: filename.describe('Name of the file, without a path.') })

async function upload(
  { request, query, bytes, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const named = parseInput(uploadQuery, query, 'query')
  const contentType = request.header('content-type')
  if (contentType === undefined) {
    throw new NotifierError('missing_required_field', {
      message: 'The header Content-Type is required: it is the type of the file.',
      details: { field: 'contentType' },
    })
  }
  return { body: await tenants.attachments.upload(organizationId, bytes, { ...named, contentType }) }
}

export const attachmentRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'uploadAttachment',
    summary: 'Upload a file; for 24 hours mails can name it by its id',
    method: 'POST',
    paths: ['/v1/attachments'],
    permission: 'Write',
    status: 201,
    errors: ['missing_required_field', 'storage_quota_exceeded'],
    query: uploadQuery,
    raw: true,
    bodySize: ({ maxUploadBytes }) => maxUploadBytes,
    response: uploadRecord,
    handler: upload,
  },
  {
    operation: 'deleteAttachment',
    summary: 'Delete an uploaded file; it stays for the stored mails that name it',
    method: 'DELETE',
    paths: ['/v1/attachments/{id}'],
    permission: 'Write',
    unknown: 'not_found',
    response: deleted,
    handler: async ({ params, organizationId }, { tenants }) => {
      await tenants.attachments.delete(organizationId, params.id ?? '')
      return { body: { deleted: true } }
    },
  },
])
