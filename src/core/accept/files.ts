import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Scoped, Tenant } from '../../tenant.ts'
import { collect, isStream, MOST_FILE_BYTES } from '../channels/file-content.ts'
import type { Kinds } from '../channels/kinds.ts'
import { UnreadableFile } from '../errors/unreadable-file.ts'

type Sends = Scoped<Tenant<unknown>>
type Fields = Readonly<Record<string, unknown>>

/**
 * The API for calls from code, in whose sends and previews a file may be a stream, or the path of a file. It is read before the message is
 * judged, so that what is stored is complete. A call over HTTP must not come here: it could name any file of the machine.
 */
export function readingFiles(sends: Sends, { known }: Kinds): Sends {
  const names = [...known.values()].flatMap(({ name, files }) => (files === undefined ? [] : [name]))
  const { templates } = sends
  return {
    ...sends,
    templates: {
      ...templates,
      preview(organizationId, idOrName, variables, options) {
        const read = withFiles(options, names)
        if (read === undefined) return templates.preview(organizationId, idOrName, variables, options)
        return read.then((whole) => templates.preview(organizationId, idOrName, variables, whole))
      },
      previewDraft(organizationId, draft) {
        const read = withFiles(draft, names)
        if (read === undefined) return templates.previewDraft(organizationId, draft)
        return read.then((whole) => templates.previewDraft(organizationId, whole))
      },
    },
    send(organizationId, message, ...rest) {
      const read = withFiles(message, names)
      if (read === undefined) return sends.send(organizationId, message, ...rest)
      return read.then((whole) => sends.send(organizationId, whole, ...rest))
    },
    validate(organizationId, message, ...rest) {
      const read = withFiles(message, names)
      if (read === undefined) return sends.validate(organizationId, message, ...rest)
      return read.then((whole) => sends.validate(organizationId, whole, ...rest))
    },
    sendBatch(organizationId, messages, ...rest) {
      const reads = Array.isArray(messages) ? messages.map((message) => withFiles(message, names)) : []
      if (reads.every((read) => read === undefined)) return sends.sendBatch(organizationId, messages, ...rest)
      // A copy: the caller may empty the list meanwhile.
      const whole = Promise.all(messages.map((message, index) => reads[index] ?? message))
      return whole.then((all) => sends.sendBatch(organizationId, all, ...rest))
    },
  }
}

/** The message with the bytes of its files. Undefined: there is nothing to read. */
function withFiles<Message extends object | undefined>(
  message: Message,
  names: readonly string[],
): Promise<Message> | undefined {
  for (const name of names) {
    const parts = (message as Fields | null | undefined)?.[name] as
      | { readonly attachments?: unknown }
      | undefined
    const attachments = parts?.attachments
    if (!Array.isArray(attachments) || !attachments.some(isUnread)) continue
    return Promise.all(attachments.map(readFile)).then((files) => ({
      ...message,
      [name]: { ...parts, attachments: files },
    }))
  }
  return undefined
}

function isUnread(file: unknown): file is Fields {
  if (typeof file !== 'object' || file === null) return false
  return 'path' in file || ('content' in file && isStream(file.content))
}

async function readFile(file: unknown): Promise<unknown> {
  if (!isUnread(file)) return file
  const { path, content, ...rest } = file
  try {
    if (path === undefined) return { ...rest, content: await read(content as AsyncIterable<unknown>) }
    if (content !== undefined) throw new Error('it has both "content" and "path"')
    if (typeof path !== 'string') throw new Error('"path" is not a text')
    return { filename: basename(path), ...rest, content: await contentOf(path) }
  } catch (cause) {
    return { filename: 'unreadable', ...rest, content: new UnreadableFile(cause) }
  }
}

async function contentOf(path: string): Promise<Uint8Array> {
  const handle = await open(path)
  try {
    // The end of a pipe or device may never come.
    if (!(await handle.stat()).isFile()) throw new Error('it is not a file')
    return await read(handle.createReadStream({ end: MOST_FILE_BYTES, autoClose: false }))
  } finally {
    await handle.close()
  }
}

function read(stream: AsyncIterable<unknown>): Promise<Uint8Array> {
  return collect(stream, MOST_FILE_BYTES, () => new Error(`it has more than ${MOST_FILE_BYTES} bytes`))
}
