import type { ChannelKind } from '../channels/channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { BodyFormat } from '../notification/notification.ts'
import { formatOf } from './format.ts'

/** A text from a caller: `html`, `text` or both, or a `body`. Null means absent. */
export interface GivenText {
  readonly body?: string | null | undefined
  readonly html?: string | null | undefined
  readonly text?: string | null | undefined
  /** The format of `body`. */
  readonly format?: BodyFormat | null | undefined
}

/** A text as it is stored. */
export interface StoredText {
  readonly body: string
  /** Null: detected from the body. */
  readonly format: BodyFormat | null
  /** The text alternative of an HTML body. Null: made from the body. */
  readonly text: string | null
}

/** Null: no text. */
export function storedText({ body, html, text, format }: GivenText): StoredText | null {
  if (body != null) return { body, format: format ?? null, text: null }
  if (html != null) return { body: html, format: 'html', text: text ?? null }
  return text == null ? null : { body: text, format: 'text', text: null }
}

/** A stored text in its public form, which is valid as input with the same meaning. */
export function shownText({ body, format, text }: StoredText): {
  readonly body: string | null
  readonly html: string | null
  readonly text: string | null
} {
  if (format === null) return { body, html: null, text: null }
  return format === 'html' ? { body: null, html: body, text } : { body: null, html: null, text: body }
}

/**
 * The changes of a stored text. Absent `html` and `text` stay; a stored body counts as one of them, by its format.
 *
 * @throws NotifierError `invalid_parameter` if no text would be left, or for a format without a body
 */
export function changedText(kind: ChannelKind, before: StoredText, change: GivenText): Partial<StoredText> {
  const { html, text, format } = change
  if (change.body != null) return different(before, storedText(change))
  if (format !== undefined) {
    if (before.text !== null) throw refused('format', 'is for a "body"; this template has "html" and "text"')
    return { format }
  }
  const isHtml = formatOf(kind, before.format, before.body) === 'html'
  const own = isHtml ? { html: before.body, text: before.text } : { html: null, text: before.body }
  const after = { html: html === undefined ? own.html : html, text: text === undefined ? own.text : text }
  if (after.html === own.html && after.text === own.text) return {}
  const stored = storedText(after)
  if (stored === null)
    throw refused(html === null ? 'html' : 'text', 'must stay: without it the template has no text')
  return different(before, stored)
}

/** Only differences, so that concurrent changes of different fields all take effect. */
function different(before: StoredText, after: StoredText | null): Partial<StoredText> {
  return Object.fromEntries(
    Object.entries(after ?? {}).filter(([field, value]) => before[field as keyof StoredText] !== value),
  )
}

function refused(field: string, fault: string): NotifierError {
  return new NotifierError('invalid_parameter', { message: `"${field}": ${fault}.`, details: { field } })
}
