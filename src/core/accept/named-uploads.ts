import type { ChannelKind } from '../channels/channel-kind.ts'
import { unknownUpload } from './upload.ts'

/** A file in the parts of a message that names an upload instead of its content. */
export interface NamedUpload {
  readonly id: string
  /** In bytes. Absent: the message is not completed yet. */
  readonly size?: number
}

/** The files that the parts of a message carry. */
export function filesOf(parts: unknown): readonly object[] {
  const { attachments } = (parts ?? {}) as { readonly attachments?: unknown }
  return Array.isArray(attachments) ? attachments : []
}

export function isNamedUpload<File extends object>(file: File): file is File & NamedUpload {
  const { id, content } = file as { readonly id?: unknown; readonly content?: unknown }
  return typeof id === 'string' && content === undefined
}

/**
 * Refuses an upload that no feature has completed: no attempt would find its content.
 *
 * @throws NotifierError `unknown_attachment`
 */
export function assertCompleted({ name, files }: ChannelKind, parts: unknown): void {
  if (files === undefined || parts === undefined) return
  const at = filesOf(parts).findIndex((file) => isNamedUpload(file) && typeof file.size !== 'number')
  if (at !== -1) throw unknownUpload(name, at)
}

/** The ids of the uploads that the parts of a message name, each once. Undefined: none. */
export function uploadsIn({ files }: ChannelKind, parts: unknown): readonly string[] | undefined {
  if (files === undefined || parts === undefined) return undefined
  const ids = filesOf(parts).flatMap((file) => (isNamedUpload(file) ? file.id : []))
  return ids.length === 0 ? undefined : [...new Set(ids)]
}
