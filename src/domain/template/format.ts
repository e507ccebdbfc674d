import type { ChannelKind } from '../channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { BodyFormat } from '../notification.ts'

/**
 * How a body is to be read. Where its format is not stated, a document or a closing tag in the source makes it HTML; on a
 * channel without HTML it is text, whatever was stored with it.
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
export function assertFormat({ name, html }: ChannelKind, stated: BodyFormat | null | undefined): void {
  if (stated !== 'html' || html === true) return
  throw new NotifierError('invalid_parameter', {
    message: `"format": messages on the channel ${name} are text; leave it out, or use "text".`,
    details: { field: 'format', channel: name },
  })
}
