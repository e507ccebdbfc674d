import { NotifierError } from '../errors/notifier-error.ts'
import type { NotificationContent } from './notification.ts'

/** The start of the stored JSON of a removed content, which cannot be retried. */
export const REMOVED = '{"removed":true,'

/** A removed content has fewer bytes: the name of a template, and the versions of its layout and of up to 50 partials. */
export const LONGEST_REMOVED = 8_192

/** The rest of a content: the template, without any text. Removes a sensitive one after its delivery. */
export function removedContent(content: NotificationContent): NotificationContent {
  const { sensitive } = content
  const marks = { removed: true, ...(sensitive === undefined ? {} : { sensitive }) } as const
  if (!('body' in content)) return { ...marks, template: content.template, variables: {} }
  return { ...marks, body: '', ...(content.template === undefined ? {} : { template: content.template }) }
}

/**
 * The rest of a content that retention removes.
 *
 * @param at the storage's time, in epoch milliseconds
 *
 * @example
 * const { content } = storedContent(expiredContent({ body: 'Hello, Ada' }, now))
 */
export function expiredContent(content: NotificationContent, at: number): NotificationContent {
  return { ...removedContent(content), removedAt: at }
}

/** The refusal of a content that is no longer stored. */
export function contentRemoved({ removedAt, erasedAt, sensitive }: NotificationContent): NotifierError {
  if (erasedAt !== undefined)
    return new NotifierError('content_removed', {
      message: 'The content was removed, because the person to whom it was sent was erased.',
      details: { reason: 'erasure', removedAt: new Date(erasedAt).toISOString() },
    })
  if (removedAt === undefined)
    return new NotifierError('content_removed', {
      details: { reason: sensitive === true ? 'sensitive' : 'turned_off' },
    })
  const at = new Date(removedAt).toISOString()
  return new NotifierError('content_removed', {
    message: `The content was removed at ${at}, after the days of "retention.contentDays". Send a new message.`,
    details: { reason: 'retention', removedAt: at },
  })
}
