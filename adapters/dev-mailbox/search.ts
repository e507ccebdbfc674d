import type { EmailParts, MailAddress } from '../../src/core/channels/email-content.ts'
import { finish } from '../../src/core/loop/steps.ts'
import type { Message } from '../../src/core/ports/provider.ts'
import { htmlToText } from '../channels/kit/mail/html-to-text.ts'

/** Most characters of a text that a search reads. */
const MOST_SEARCHED = 20_000

/** What a search reads of a message: its addresses, its subject and the beginning of its text, in lower case. */
export function searchedText(channel: string, message: Message): string {
  const { to, subject } = message
  const { from, replyTo = [], cc = [], bcc = [] } = partsOf(channel, message)
  const addresses = [...(from === undefined ? [] : [from]), ...replyTo, ...cc, ...bcc]
  return [channel, to, ...addresses.map(written), subject ?? '', readableText(message)]
    .join('\n')
    .toLowerCase()
}

/** The beginning of the text that people read, without the tags of HTML. */
export function readableText({ body, format, text }: Message): string {
  const start = (text ?? body).slice(0, MOST_SEARCHED)
  return text === undefined && format === 'html' ? finish(htmlToText(start)) : start
}

/** The parts of a mail. Those of other channels name no addresses. */
export function partsOf(channel: string, message: Message): EmailParts {
  return channel === 'email' ? (message.email ?? {}) : {}
}

/** `Ada <ada@example.com>`, as the head of a mail shows it. */
export function written({ name = '', address }: MailAddress): string {
  return name === '' ? address : `${name} <${address}>`
}
