import type { ChannelName } from '../channel.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { BodyFormat } from '../notification.ts'

/**
 * How a body is to be read. Of an e-mail that does not say so, a document or a closing tag in the source makes it HTML;
 * all others are text, whatever was stored with them.
 */
export function formatOf(
  channel: ChannelName,
  stated: BodyFormat | null | undefined,
  source: string,
): BodyFormat {
  if (channel !== 'email') return 'text'
  return stated ?? (/<!doctype html|<html[\s>]|<\/[a-z][a-z0-9]*\s*>/i.test(source) ? 'html' : 'text')
}

/** @throws NotifierError `invalid_parameter` for HTML where no mail is */
export function assertFormat(channel: ChannelName, stated: BodyFormat | null | undefined): void {
  if (stated !== 'html' || channel === 'email') return
  throw new NotifierError('invalid_parameter', {
    message: `"format" can be html on the channel email only; this is for ${channel}.`,
    details: { field: 'format', channel },
  })
}
