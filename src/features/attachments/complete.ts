import type { Complete } from '../../core/accept/complete.ts'
import type { ParsedSend } from '../../core/accept/input.ts'
import { filesOf, isNamedUpload } from '../../core/accept/named-uploads.ts'
import { type UploadValue, unknownUpload } from '../../core/accept/upload.ts'
import { decodedLength } from '../../core/channels/file-content.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { partsFor } from '../../core/channels/parts-of.ts'
import { isNotifierError, NotifierError } from '../../core/errors/notifier-error.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import { findUploads } from './contents.ts'

/** A file of a message: with its content, or the id of an upload. */
interface GivenFile {
  readonly id?: string
  readonly filename?: string
  readonly content?: string
}

interface Naming {
  readonly index: number
  readonly channel: string
  readonly maxBytes: number
  readonly files: readonly GivenFile[]
}

/** Looks up the uploads that messages name. Their contents are read for each attempt. */
export function completeWithUploads({ known }: Kinds): Complete {
  const channels = [...known.values()].flatMap(({ name, files }) =>
    files === undefined ? [] : { name, ...files },
  )

  return (drafts, organizationId, records) => {
    const naming: Naming[] = []
    for (const [index, draft] of drafts.entries()) {
      for (const { name, maxBytes } of channels) {
        const files: readonly GivenFile[] = filesOf(partsFor(name, draft))
        if (files.some(isNamedUpload)) naming.push({ index, channel: name, maxBytes, files })
      }
    }
    if (naming.length === 0) return undefined
    return found(drafts, naming, organizationId, records)
  }
}

/** The messages with what the uploads say about themselves, or why there is none. */
async function found(
  drafts: readonly ParsedSend[],
  naming: readonly Naming[],
  organizationId: string,
  records: RecordReads,
): Promise<readonly (ParsedSend | NotifierError)[]> {
  const ids = new Set(naming.flatMap(({ files }) => files.filter(isNamedUpload).map(({ id }) => id)))
  const uploads = await findUploads(records, organizationId, [...ids])
  const whole: (ParsedSend | NotifierError)[] = [...drafts]
  for (const each of naming) {
    const input = whole[each.index]
    if (input === undefined || isNotifierError(input)) continue
    whole[each.index] = unknown(each, uploads) ?? tooLarge(each, uploads) ?? described(input, each, uploads)
  }
  return whole
}

type Uploads = ReadonlyMap<string, UploadValue>

function unknown({ channel, files }: Naming, uploads: Uploads): NotifierError | undefined {
  const at = files.findIndex((file) => isNamedUpload(file) && !uploads.has(file.id))
  return at === -1 ? undefined : unknownUpload(channel, at)
}

function tooLarge({ channel, files, maxBytes }: Naming, uploads: Uploads): NotifierError | undefined {
  const sizes = files.map((file) =>
    isNamedUpload(file) ? (uploads.get(file.id)?.size ?? 0) : decodedLength(file.content ?? ''),
  )
  if (sizes.reduce((sum, size) => sum + size, 0) <= maxBytes) return undefined
  const field = `${channel}.attachments`
  return new NotifierError('invalid_parameter', {
    message: `"${field}": at most ${maxBytes} bytes in total, decoded.`,
    details: { field },
  })
}

function described(input: ParsedSend, { channel, files }: Naming, uploads: Uploads): ParsedSend {
  const attachments = files.map((file) => {
    if (!isNamedUpload(file)) return file
    const { filename, contentType, size } = uploads.get(file.id) as UploadValue
    return { filename, contentType, ...file, size }
  })
  return { ...input, [channel]: { ...(input[channel] as object), attachments } }
}
