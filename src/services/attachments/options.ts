import { MOST_FILE_BYTES } from '../../domain/file-content.ts'
import { assertKeys, assertObject, wrong } from '../option-checks.ts'

/** Limits of files that are uploaded before the messages that carry them. */
export interface AttachmentOptions {
  /** Largest file in bytes, at most 33,554,432 (32 MiB). A mail takes 7 MiB of files. Default 10,485,760 (10 MiB). */
  readonly maxBytes?: number | undefined
  /** Most bytes of all uploaded files of an organization, which are kept for 24 hours. Default 104,857,600 (100 MiB). */
  readonly maxStoredBytes?: number | undefined
}

export type ResolvedAttachments = { readonly [Name in keyof AttachmentOptions]-?: number }

const MiB = 1024 * 1024

/** @throws NotifierError `invalid_configuration` */
export function resolveAttachments(options: AttachmentOptions = {}): ResolvedAttachments {
  assertObject('attachments', options)
  assertKeys('attachments.', options, ['maxBytes', 'maxStoredBytes'])
  const { maxBytes = 10 * MiB, maxStoredBytes = 100 * MiB } = options
  if (!Number.isInteger(maxBytes) || maxBytes < 1 || maxBytes > MOST_FILE_BYTES)
    throw wrong('attachments.maxBytes', `a whole number of bytes from 1 to ${MOST_FILE_BYTES}`)
  if (!Number.isSafeInteger(maxStoredBytes) || maxStoredBytes < maxBytes)
    throw wrong('attachments.maxStoredBytes', `a whole number of bytes of at least "attachments.maxBytes"`)
  return { maxBytes, maxStoredBytes }
}
