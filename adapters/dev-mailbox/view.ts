import type { Message } from '../../src/core/ports/provider.ts'
import { decodeAttribute } from '../channels/kit/mail/html-entities.ts'
import { mailOf } from './mail.ts'
import type { Entry } from './store.ts'

/** A message in a list. */
export interface Row {
  readonly id: string
  readonly channel: string
  readonly to: string
  /** Without a subject, the beginning of the text. */
  readonly subject: string
  readonly caughtAt: string
}

/** A message with everything about it. Its parts are under the name of the channel. */
export interface View extends Omit<Row, 'subject'> {
  readonly subject: string | null
  readonly body: string
  readonly format: 'text' | 'html'
  readonly text?: string | undefined
  readonly notificationId: string
  readonly organizationId: string
  readonly links: readonly string[]
  readonly files: readonly Omit<File, 'content'>[]
  /** True: it is a mail, whose source can be requested. */
  readonly mail: boolean
  readonly parts: object
}

/** A file of a message. */
export interface File {
  readonly filename: string
  readonly contentType: string
  readonly size: number
  readonly content: Uint8Array
  readonly cid: string | null
}

const BEGINNING = 120
const MOST_LINKS = 200

export function rowOf({ caught }: Entry): Row {
  const { id, channel, message, caughtAt } = caught
  const { to, subject, body } = message
  return { id, channel, to, subject: subject || body.slice(0, BEGINNING), caughtAt }
}

export function viewOf(entry: Entry): View {
  const { caught, kind } = entry
  const { id, channel, message, notificationId, organizationId, caughtAt } = caught
  const { to, subject, body, format, text } = message
  const mail = channel === 'email' ? mailOf(message, entry.idempotencyKey) : null
  const alternative = text ?? (format === 'html' ? mail?.text : undefined)
  const given = { subject, body, format, ...(text === undefined ? {} : { text }) }
  return {
    ...{ id, channel, to, subject, body, format, notificationId, organizationId, caughtAt },
    ...(alternative === undefined ? {} : { text: alternative }),
    links: linksIn(message),
    files: filesOf(entry).map(({ content: _, ...file }) => file),
    mail: mail !== null,
    parts: { ...kind.measure?.(given), ...(shown(message[channel]) as object | undefined) },
  }
}

export function filesOf({ caught: { channel, message } }: Entry): readonly File[] {
  const files = (message[channel] as { readonly attachments?: unknown } | undefined)?.attachments
  if (!Array.isArray(files)) return []
  return files.flatMap((file: Partial<File> | null) => {
    const content = file?.content
    if (!(content instanceof Uint8Array)) return []
    const { filename = 'attachment', contentType = 'application/octet-stream', cid = null } = file ?? {}
    return { filename, contentType, cid, content, size: content.byteLength }
  })
}

/** The addresses that the message leads to. In the sandbox they lead nowhere. */
function linksIn({ body, format, text = '' }: Message): readonly string[] {
  const found = new Set<string>()
  if (format === 'html') {
    for (const [, quoted, bare] of body.matchAll(/\bhref\s*=\s*(?:["']([^"']{1,4000})|([^\s"'>]{1,4000}))/gi))
      found.add(decodeAttribute(quoted ?? bare ?? '').trim())
  }
  for (const [link] of `${format === 'html' ? '' : body}\n${text}`.matchAll(/https?:\/\/[^\s<>"')]{1,4000}/g))
    found.add(link)
  return [...found].filter((link) => /^https?:\/\//i.test(link) && URL.canParse(link)).slice(0, MOST_LINKS)
}

/** A value as JSON can tell it: files by their size. */
function shown(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: value.byteLength }
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shown(each)]))
}
