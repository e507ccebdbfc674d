import type { AttachmentContent } from './message-parts.ts'
import type { NotificationContent } from './notification.ts'

/** A notification's content as storages keep it, as JSON: attachments apart, because lists do not read them. */
export interface StoredContent {
  /** With an empty list where there are attachments. */
  readonly content: string
  /** Null: there are none. */
  readonly attachments: string | null
}

/** Stands in a stored content where attachments are kept apart. */
export const APART = '"attachments":[]'

export function storedContent(content: NotificationContent): StoredContent {
  const { email } = content
  if (email?.attachments === undefined || email.attachments.length === 0) {
    return { content: JSON.stringify(content), attachments: null }
  }
  return {
    content: JSON.stringify({ ...content, email: { ...email, attachments: [] } }),
    attachments: JSON.stringify(email.attachments),
  }
}

/** Puts a content together again. */
export function wholeContent({ content, attachments }: StoredContent): NotificationContent {
  const parsed: NotificationContent = JSON.parse(content)
  if (attachments === null) return parsed
  const files: readonly AttachmentContent[] = JSON.parse(attachments)
  return { ...parsed, email: { ...parsed.email, attachments: files } }
}
