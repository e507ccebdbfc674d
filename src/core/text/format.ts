import type { ChannelKind } from '../channels/channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { BodyFormat } from '../notification/notification.ts'

/**
 * The format of a body. Without a stated format, a document or a closing tag makes it HTML. On a channel without HTML
 * it is always text.
 */
export function formatOf(
  { html }: ChannelKind,
  stated: BodyFormat | null | undefined,
  source: string,
): BodyFormat {
  if (html !== true) return 'text'
  return stated ?? (/<!doctype html|<html[\s>]|<\/[a-z][a-z0-9]*\s*>/i.test(source) ? 'html' : 'text')
}

/** @throws NotifierError `invalid_parameter` for HTML on a channel without it */
export function assertFormat(
  { name, html }: ChannelKind,
  given: { readonly format?: BodyFormat | null | undefined; readonly html?: string | null | undefined },
): void {
  if (html === true || (given.format !== 'html' && given.html == null)) return
  const [field, right] =
    given.html == null ? ['format', 'leave it out, or use "text"'] : ['html', 'use "text" in its place']
  throw new NotifierError('invalid_parameter', {
    message: `"${field}": messages on the channel ${name} are text; ${right}.`,
    details: { field, channel: name },
  })
}
