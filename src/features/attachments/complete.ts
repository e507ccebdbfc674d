import type { ParsedBatch } from '../../core/accept/batch.ts'
import type { ParsedSend } from '../../core/accept/input.ts'
import { filesOf, isNamedUpload } from '../../core/accept/named-uploads.ts'
import type { UploadValue } from '../../core/accept/upload.ts'
import { decodedLength } from '../../core/channels/file-content.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { partsFor } from '../../core/channels/parts-of.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import { findUploads } from './contents.ts'

type Inputs = ParsedBatch['inputs']

/** A file of a message: with its content, or the id of an upload. */
interface GivenFile {
  readonly id?: string
  readonly filename?: string
  readonly content?: string
}

interface Naming {
  readonly index: number
  readonly input: ParsedSend
  readonly channel: string
  readonly maxBytes: number
  readonly files: readonly GivenFile[]
}

/**
 * Looks up the uploads that messages name, before the messages are validated. Their contents are read for each attempt.
 */
export interface NamedUploads {
  /** Undefined: the message names no upload. @throws NotifierError `unknown_attachment`, `invalid_parameter` */
  inMessage(input: ParsedSend, organizationId: string, records: RecordReads): Promise<ParsedSend> | undefined
  /** A message that cannot have its uploads gets its own error. */
  inBatch(parsed: ParsedBatch, organizationId: string, records: RecordReads): Promise<ParsedBatch> | undefined
}

export function createNamedUploads({ known }: Kinds): NamedUploads {
  const channels = [...known.values()].flatMap(({ name, files }) =>
    files === undefined ? [] : { name, ...files },
  )

  function namingOf(index: number, input: ParsedSend): Naming | undefined {
    for (const { name, maxBytes } of channels) {
      const files: readonly GivenFile[] = filesOf(partsFor(name, input))
      if (files.some(isNamedUpload)) return { index, input, channel: name, maxBytes, files }
    }
    return undefined
  }

  return {
    inMessage(input, organizationId, records) {
      const naming = namingOf(0, input)
      if (naming === undefined) return undefined
      return found([naming], organizationId, records).then((inputs) => {
        const whole = inputs.get(0)
        if (whole instanceof NotifierError) throw whole
        return whole ?? input
      })
    },
    inBatch(parsed, organizationId, records) {
      const naming = parsed.inputs.flatMap(([index, input]) => namingOf(index, input) ?? [])
      if (naming.length === 0) return undefined
      return found(naming, organizationId, records).then((inputs) => withUploads(parsed, inputs))
    },
  }
}

type Found = ReadonlyMap<number, ParsedSend | NotifierError>

function withUploads(parsed: ParsedBatch, found: Found): ParsedBatch {
  const inputs: Inputs[number][] = []
  const errors = parsed.errors.copy()
  for (const [index, input] of parsed.inputs) {
    const whole = found.get(index) ?? input
    if (whole instanceof NotifierError) errors.add(index, whole)
    else inputs.push([index, whole])
  }
  return { ...parsed, inputs, errors }
}

/** The messages with what the uploads say about themselves, or why there is none, by index. */
async function found(
  naming: readonly Naming[],
  organizationId: string,
  records: RecordReads,
): Promise<Found> {
  const ids = new Set(naming.flatMap(({ files }) => files.filter(isNamedUpload).map(({ id }) => id)))
  const uploads = await findUploads(records, organizationId, [...ids])
  return new Map(
    naming.map((each) => [
      each.index,
      unknown(each, uploads) ?? tooLarge(each, uploads) ?? described(each, uploads),
    ]),
  )
}

type Uploads = ReadonlyMap<string, UploadValue>

/** Also for another organization's upload: a send must not reveal whether it exists. */
function unknown({ channel, files }: Naming, uploads: Uploads): NotifierError | undefined {
  const at = files.findIndex((file) => isNamedUpload(file) && !uploads.has(file.id))
  if (at === -1) return undefined
  const field = `${channel}.attachments.${at}.id`
  return new NotifierError('unknown_attachment', {
    message: `"${field}": no upload has this id, or it has expired. Upload the file again.`,
    details: { field },
  })
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

function described({ input, channel, files }: Naming, uploads: Uploads): ParsedSend {
  const attachments = files.map((file) => {
    if (!isNamedUpload(file)) return file
    const { filename, contentType, size } = uploads.get(file.id) as UploadValue
    return { filename, contentType, ...file, size }
  })
  return { ...input, [channel]: { ...(input[channel] as object), attachments } }
}
