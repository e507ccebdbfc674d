import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { collect, isStream, MOST_FILE_BYTES } from '../channels/file-content.ts'
import type { Kinds } from '../channels/kinds.ts'
import { UnreadableFile } from '../errors/unreadable-file.ts'
import type { Reading } from '../tenancy/per-tenant.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads files of messages, which calls from code may give as streams or paths, before the message is validated, so that
 * what is stored is complete. Never called over HTTP, where a caller could name any file of the machine.
 */
export function readingFiles({ known }: Kinds): Reading {
  const names = [...known.values()].flatMap(({ name, files }) => (files === undefined ? [] : [name]))
  return {
    at: { send: 0, validate: 0, sendBatch: 0, preview: 2, previewDraft: 0 },
    read(given) {
      if (!Array.isArray(given)) return withFiles(given, names)
      const reads = given.map((message) => withFiles(message, names))
      // A copy: the caller may empty the list meanwhile.
      return reads.every((read) => read === undefined)
        ? undefined
        : Promise.all(given.map((message, index) => reads[index] ?? message))
    },
  }
}

/** The message with the bytes of its files. Undefined: there is nothing to read. */
function withFiles(message: unknown, names: readonly string[]): Promise<Fields> | undefined {
  for (const name of names) {
    const parts = (message as Fields | null | undefined)?.[name] as
      | { readonly attachments?: unknown }
      | undefined
    const attachments = parts?.attachments
    if (!Array.isArray(attachments) || !attachments.some(isUnread)) continue
    return Promise.all(attachments.map(readFile)).then((files) => ({
      ...(message as Fields),
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
