import { NotifierError } from '../errors/notifier-error.ts'
import type { RecordKind } from '../records/record-kind.ts'

/** An uploaded file without its content. Small, because lists return whole values. */
export interface UploadValue {
  readonly filename: string
  readonly contentType: string
  /** Size in bytes. */
  readonly size: number
  /** False: its parts are still being stored, or the process that stored them has ended. */
  readonly complete: boolean
  /** When to remove it, unless a stored notification names it. Epoch milliseconds; absent: it was stored by an earlier version. */
  readonly removeAt?: number | undefined
  /** Its owner has deleted it. It stays while a stored notification names it. */
  readonly deleted?: true | undefined
}

/** Storages know this kind, because a notification names its uploads: see `NewNotification.uploads`. */
export const uploadKind: RecordKind<UploadValue> = {
  name: 'uploads',
  version: 1,
  notPersonal: 'goes with the notifications that name it',
  due: ({ removeAt = 0 }) => removeAt,
}

/**
 * Also for another organization's upload: a send must not reveal whether it exists.
 *
 * @param at the position among the files of the message
 */
export function unknownUpload(channel: string, at: number): NotifierError {
  const field = `${channel}.attachments.${at}.id`
  return new NotifierError('unknown_attachment', {
    message: `"${field}": no upload has this id, or it has expired. Upload the file again.`,
    details: { field },
  })
}

/**
 * The error of an accept that names an upload which does not exist any more.
 *
 * @example
 * if (found.length < named.length) throw uploadGone()
 */
export function uploadGone(cause?: unknown): NotifierError {
  return new NotifierError('unknown_attachment', {
    message: 'An upload that the message names has been deleted or has expired. Upload the file again.',
    cause,
  })
}
