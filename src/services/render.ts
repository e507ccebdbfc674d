import type { ChannelName } from '../domain/channel.ts'
import type { NotificationContent } from '../domain/notification.ts'
import { smsText } from '../domain/sms-segments.ts'
import { detectFormat, type RenderedText, toHeader } from '../domain/template/compile.ts'
import type { RenderedRecord } from './records.ts'
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

/** Text as a caller is shown it before it is sent. */
export function shownText(channel: ChannelName, text: RenderedText): RenderedRecord {
  return channel === 'sms' ? { ...text, sms: smsText(text.body) } : text
}
