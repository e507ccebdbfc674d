import type { NotificationContent } from './notification.ts'

/** The start of the stored JSON of a removed content, which cannot be retried. */
export const REMOVED = '{"removed":true,'

/** The rest of a sensitive content after its delivery: the template, without any text. */
export function removedContent(content: NotificationContent): NotificationContent {
  const marks = { removed: true, sensitive: true } as const
  if (!('body' in content)) return { ...marks, template: content.template, variables: {} }
  return { ...marks, body: '', ...(content.template === undefined ? {} : { template: content.template }) }
}
