import type { LintSeverity } from '../../src/core/channels/lint.ts'
import type { Message } from '../../src/core/ports/provider.ts'
import { sentMessageFaults, TEMPLATE_RULES } from '../../src/features/lint/index.ts'
import { decodeAttribute } from '../channels/kit/mail/html-entities.ts'
import { mailOf } from './mail.ts'
import { partsOf, readableText, written } from './search.ts'
import type { Entry } from './store.ts'

/** A message in a list. */
export interface Row {
  readonly id: string
  readonly channel: string
  readonly to: string
  /** Without a subject, the beginning of the text. */
  readonly subject: string
  /** The beginning of the text. Empty: it stands for the subject. */
  readonly beginning: string
  readonly caughtAt: string
}

/** Who a mail is from, and who else gets it or its answers. */
export interface Head {
  /** Null: the provider's default. */
  readonly from: string | null
  readonly replyTo: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
}

/** What people may not see as intended. */
export interface Warning {
  readonly severity: LintSeverity
  readonly message: string
  readonly field: string
  readonly excerpt?: string | undefined
}

/** A message with everything about it. Its parts are under the name of the channel. */
export interface View extends Omit<Row, 'subject' | 'beginning'> {
  readonly subject: string | null
  readonly body: string
  readonly format: 'text' | 'html'
  readonly text?: string | undefined
  readonly notificationId: string
  readonly organizationId: string
  /** Null: no mail. */
  readonly head: Head | null
  readonly warnings: readonly Warning[]
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
const MAX_EXCERPT = 120

export function rowOf({ caught }: Entry): Row {
  const { id, channel, message, caughtAt } = caught
  const { to, subject } = message
  const beginning = readableText(message).slice(0, BEGINNING).replace(/\s+/g, ' ').trim()
  const words = subject ? { subject, beginning } : { subject: beginning, beginning: '' }
  return { id, channel, to, ...words, caughtAt }
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
    head: mail === null ? null : headOf(message),
    warnings: warningsOf(entry),
    links: linksIn(message),
    files: filesOf(entry).map(({ content: _, ...file }) => file),
    mail: mail !== null,
    parts: { ...kind.measure?.(given), ...(shown(message[channel]) as object | undefined) },
  }
}

function headOf(message: Message): Head {
  const { from, replyTo = [], cc = [], bcc = [] } = partsOf('email', message)
  return {
    from: from === undefined ? null : written(from),
    replyTo: replyTo.map(written),
    cc: cc.map(written),
    bcc: bcc.map(written),
  }
}

/** Addresses of this machine, which development needs. */
const LOCAL = /\bhttp:\/\/(?:localhost|[\w-]+\.localhost|127(?:\.\d+){3}|\[::1\])(?![\w.-])/i

/** The findings of a lint about the message as it was sent, errors first. */
function warningsOf({ caught: { channel, message }, kind }: Entry): readonly Warning[] {
  const { subject, body, format, text } = message
  const sent = { subject, body, format, ...(text === undefined ? {} : { text }) }
  const rules = { ...TEMPLATE_RULES, ...kind.lint?.rules }
  return sentMessageFaults(kind, sent, message[channel])
    .filter(({ rule, excerpt = '' }) => rule !== 'plain_http_link' || !LOCAL.test(excerpt))
    .map(({ rule, field, message: words, excerpt }) => ({
      severity: Object.hasOwn(rules, rule) ? rules[rule as keyof typeof rules].severity : 'warning',
      message: words,
      field,
      excerpt: excerpt?.slice(0, MAX_EXCERPT),
    }))
    .sort((one, other) => one.severity.localeCompare(other.severity))
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
