import { MOST_FILE_BYTES } from '../../core/channels/file-content.ts'
import { assertKeys, assertObject, wrong } from '../../core/input/option-checks.ts'

/** Limits of files that are uploaded before the messages that carry them. */
export interface AttachmentOptions {
  /** Largest file in bytes, at most 33,554,432 (32 MiB). A mail takes 7 MiB of files. Default 10,485,760 (10 MiB). */
  readonly maxBytes?: number | undefined
}

export type ResolvedAttachments = { readonly [Name in keyof AttachmentOptions]-?: number }

const MiB = 1024 * 1024

/** @throws NotifierError `invalid_configuration` */
export function resolveAttachments(options: AttachmentOptions = {}): ResolvedAttachments {
  assertObject('attachments', options)
  assertKeys('attachments.', options, ['maxBytes'])
  const { maxBytes = 10 * MiB } = options
  if (!Number.isInteger(maxBytes) || maxBytes < 1 || maxBytes > MOST_FILE_BYTES)
    throw wrong('attachments.maxBytes', `a whole number of bytes from 1 to ${MOST_FILE_BYTES}`)
  return { maxBytes }
}
