import { filesOf, isNamedUpload } from '../../core/accept/named-uploads.ts'
import type { Notification } from '../../core/notification/notification.ts'
import type { FindServices } from './find.ts'

/** A file of a stored mail: an upload that it names, or one with its content. */
export interface StoredFile {
  readonly id?: string | undefined
  readonly filename?: string | undefined
  readonly contentType?: string | undefined
  readonly size?: number | undefined
  /** Base64. */
  readonly content?: string | undefined
}

/** The files of a notification from a list, which does not read them. */
export async function storedFiles(
  { storage, step }: Pick<FindServices, 'storage' | 'step'>,
  { id, content }: Pick<Notification, 'id' | 'content'>,
): Promise<readonly StoredFile[]> {
  const { attachments } = (content.parts ?? {}) as { readonly attachments?: unknown }
  if (attachments === undefined) return []
  const stored = await step(() => storage.notifications.get(id))
  return filesOf(stored?.content.parts)
}

export function namedUploads(files: readonly StoredFile[]): readonly string[] {
  return files.flatMap((file) => (isNamedUpload(file) ? file.id : []))
}
