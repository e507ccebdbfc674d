import type { NotificationContent } from './notification.ts'

/** The start of the stored JSON of a removed content, which cannot be retried. */
export const REMOVED = '{"removed":true,'

/** The rest of a content: the template, without any text. Removes a sensitive one after its delivery. */
export function removedContent(content: NotificationContent): NotificationContent {
  const { sensitive } = content
  const marks = { removed: true, ...(sensitive === undefined ? {} : { sensitive }) } as const
  if (!('body' in content)) return { ...marks, template: content.template, variables: {} }
  return { ...marks, body: '', ...(content.template === undefined ? {} : { template: content.template }) }
}
