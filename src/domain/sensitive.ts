import type { NotificationContent } from './notification.ts'

/** How the JSON of a removed content begins. */
export const REMOVED = '{"removed":true,'

/** What stays of a sensitive content once its delivery has ended: which template it used, and nothing that was said. */
export function removedContent(content: NotificationContent): NotificationContent {
  const marks = { removed: true, sensitive: true } as const
  return 'template' in content
    ? { ...marks, template: content.template, variables: {} }
    : { ...marks, body: '' }
}
