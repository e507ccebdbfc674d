import { type ChannelKind, isPlainLine, MAX_RECIPIENT_LENGTH } from './channel-kind.ts'
import { NotifierError } from './errors/notifier-error.ts'

/**
 * Checks a recipient's form.
 *
 * @throws NotifierError `invalid_email`, `invalid_phone` or `invalid_recipient`, with the field in `details`
 */
export function assertRecipient(kind: ChannelKind, to: string): void {
  const fault = faultOf(kind, to)
  if (fault === null) return
  const { code = 'invalid_recipient', message, expected } = fault
  throw new NotifierError(code, {
    message:
      message ?? (code === 'invalid_recipient' ? `The recipient must be ${kind.recipient}.` : undefined),
    details: {
      field: 'to',
      channel: kind.name,
      received: to.slice(0, 100),
      ...(expected === undefined ? {} : { expected }),
    },
  })
}

function faultOf(kind: ChannelKind, to: string): ReturnType<NonNullable<ChannelKind['checkRecipient']>> {
  if (to.length > MAX_RECIPIENT_LENGTH) return {}
  if (kind.checkRecipient !== undefined) return kind.checkRecipient(to)
  return isPlainLine(to) ? null : {}
}
