import type { NotificationContent } from './notification.ts'

/** The stored JSON of a notification's content, with attachments apart, because lists do not read them. */
export interface StoredContent {
  /** With an empty list instead of attachments. */
  readonly content: string
  /** Null: none. */
  readonly attachments: string | null
}

/** Marks a stored content whose attachments are apart. */
export const APART = '"attachments":[]'

/**
 * Turns the content of a notification into the texts to store.
 *
 * @example
 * const { content, attachments } = storedContent({ subject: 'Shipped', body: 'Order ord_123 is on its way.' })
 */
export function storedContent(content: NotificationContent): StoredContent {
  const { parts } = content
  const attachments = attachmentsIn(parts)
  if (attachments === null) return { content: JSON.stringify(content), attachments: null }
  return {
    content: JSON.stringify({ ...content, parts: { ...Object(parts), attachments: [] } }),
    attachments: JSON.stringify(attachments),
  }
}

function attachmentsIn(parts: unknown): readonly unknown[] | null {
  const { attachments } = (parts ?? {}) as { readonly attachments?: unknown }
  return Array.isArray(attachments) && attachments.length > 0 ? attachments : null
}

/** Restores the whole content. */
export function wholeContent({ content, attachments }: StoredContent): NotificationContent {
  const parsed: NotificationContent = JSON.parse(content)
  if (attachments === null) return parsed
  return { ...parsed, parts: { ...Object(parsed.parts), attachments: JSON.parse(attachments) } }
}
