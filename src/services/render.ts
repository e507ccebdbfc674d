import type { ChannelName } from '../domain/channel.ts'
import type { NotificationContent } from '../domain/notification.ts'
import { detectFormat, type RenderedText, toHeader } from '../domain/template/compile.ts'
import type { CompiledTemplates } from './templates/compiled-templates.ts'

/**
 * The text of a notification; the same for every attempt, because template version and variables are pinned.
 *
 * @throws NotifierError `template_error`, `message_too_large`
 */
export function renderContent(
  channel: ChannelName,
  content: NotificationContent,
  compiled: CompiledTemplates,
): RenderedText {
  if ('body' in content) {
    return {
      subject: content.subject === undefined ? null : toHeader(content.subject),
      body: content.body,
      format: content.format ?? detectFormat(channel, content.body),
    }
  }
  const text = compiled.get(content.template).render(content.variables)
  return content.subject === undefined ? text : { ...text, subject: toHeader(content.subject) }
}
