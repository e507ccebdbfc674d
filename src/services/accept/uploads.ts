import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { decodedLength } from '../../domain/file-content.ts'
import type { ParsedSend } from '../../domain/input/send.ts'
import { contentsOf, findUploads } from '../attachments/copies.ts'
import type { UploadValue } from '../attachments/kind.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { RecordReads } from '../records/record-stores.ts'
import type { ParsedBatch } from './batch.ts'
import { itemError } from './batch-record.ts'

/** Most bytes of uploads in a batch, over all its messages: each message stores its own copy. */
const MOST_IN_BATCH = 32 * 1024 * 1024

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

/** Copies uploads into messages before they are judged, so that what is accepted does not depend on them. */
export interface UploadCopies {
  /** Undefined: the message names no upload. @throws NotifierError `unknown_attachment`, `invalid_parameter` */
  inMessage(input: ParsedSend, organizationId: string, records: RecordReads): Promise<ParsedSend> | undefined
  /** A message with an upload that cannot be copied gets an error of its own. */
  inBatch(parsed: ParsedBatch, organizationId: string, records: RecordReads): Promise<ParsedBatch> | undefined
}

export function createUploadCopies({ known }: Kinds): UploadCopies {
  const channels = [...known.values()].flatMap(({ name, files }) =>
    files === undefined ? [] : { name, ...files },
  )

  function namingOf(index: number, input: ParsedSend): Naming | undefined {
    for (const { name, maxBytes } of channels) {
      const files = (input[name] as { readonly attachments?: unknown } | undefined)?.attachments
      if (Array.isArray(files) && files.some(isUpload))
        return { index, input, channel: name, maxBytes, files }
    }
    return undefined
  }

  return {
    inMessage(input, organizationId, records) {
      const naming = namingOf(0, input)
      if (naming === undefined) return undefined
      return copied([naming], organizationId, records).then((copies) => {
        const copy = copies.get(0)
        if (copy instanceof NotifierError) throw copy
        return copy ?? input
      })
    },
    inBatch(parsed, organizationId, records) {
      const naming = parsed.inputs.flatMap(([index, input]) => namingOf(index, input) ?? [])
      if (naming.length === 0) return undefined
      return copied(naming, organizationId, records).then((copies) => withCopies(parsed, copies))
    },
  }
}

type Copies = ReadonlyMap<number, ParsedSend | NotifierError>

function withCopies(parsed: ParsedBatch, copies: Copies): ParsedBatch {
  const inputs: Inputs[number][] = []
  const errors = [...parsed.errors]
  for (const [index, input] of parsed.inputs) {
    const copy = copies.get(index) ?? input
    if (copy instanceof NotifierError) errors.push([index, itemError(copy)])
    else inputs.push([index, copy])
  }
  return { ...parsed, inputs, errors }
}

function isUpload(file: unknown): file is GivenFile & { readonly id: string } {
  const { id, content } = (file ?? {}) as GivenFile
  return typeof id === 'string' && content === undefined
}

/** The messages with their copies by index, or why there is none. */
async function copied(
  naming: readonly Naming[],
  organizationId: string,
  records: RecordReads,
): Promise<Copies> {
  const ids = new Set(naming.flatMap(({ files }) => files.filter(isUpload).map(({ id }) => id)))
  const found = await findUploads(records, organizationId, [...ids])
  const copies = new Map<number, ParsedSend | NotifierError>()
  const fitting: Naming[] = []
  let left = MOST_IN_BATCH
  for (const each of naming) {
    const uploads = each.files.filter(isUpload)
    const size = uploads.reduce((sum, { id }) => sum + (found.get(id)?.size ?? 0), 0)
    const refusal = unknown(each, found) ?? tooLarge(each, size, left)
    if (refusal !== undefined) {
      copies.set(each.index, refusal)
      continue
    }
    left -= size
    fitting.push(each)
  }
  const needed = new Set(fitting.flatMap(({ files }) => files.filter(isUpload).map(({ id }) => id)))
  const contents = await contentsOf(records, new Map([...found].filter(([id]) => needed.has(id))))
  for (const each of fitting) copies.set(each.index, unknown(each, contents) ?? filled(each, found, contents))
  return copies
}

/** Also for another organization's upload: a send does not tell whether it exists. */
function unknown({ channel, files }: Naming, found: ReadonlyMap<string, unknown>): NotifierError | undefined {
  const at = files.findIndex((file) => isUpload(file) && !found.has(file.id))
  if (at === -1) return undefined
  const field = `${channel}.attachments.${at}.id`
  return new NotifierError('unknown_attachment', {
    message: `"${field}": no upload has this id, or it has ended. Upload the file again.`,
    details: { field },
  })
}

function tooLarge(
  { channel, files, maxBytes }: Naming,
  size: number,
  left: number,
): NotifierError | undefined {
  const given = files.reduce((sum, { content = '' }) => sum + decodedLength(content), 0)
  const field = `${channel}.attachments`
  if (given + size > maxBytes) {
    return new NotifierError('invalid_parameter', {
      message: `"${field}": at most ${maxBytes} bytes in total, decoded.`,
      details: { field },
    })
  }
  if (size <= left) return undefined
  return new NotifierError('message_too_large', {
    message: `The uploads in the messages of this batch have more than ${MOST_IN_BATCH} bytes: send this notification in another batch.`,
    details: { field },
  })
}

function filled(
  { input, channel, files }: Naming,
  found: ReadonlyMap<string, UploadValue>,
  contents: ReadonlyMap<string, string>,
): ParsedSend {
  const attachments = files.map((file) => {
    if (!isUpload(file)) return file
    const { id, ...rest } = file
    const { filename, contentType } = found.get(id) as UploadValue
    return { filename, contentType, ...rest, content: contents.get(id) }
  })
  return { ...input, [channel]: { ...(input[channel] as object), attachments } }
}
