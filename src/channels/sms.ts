import type { ChannelKind } from '../domain/channel-kind.ts'
import type { NumberCheck } from './phone-number.ts'
import { phoneRecipient } from './phone-recipient.ts'
import { boundedSmsText, smsText } from './sms-segments.ts'

export type SmsKind = ChannelKind<'sms', never>

/** The SMS kind with a notifier's options. */
export function smsKind(options: {
  readonly maxSmsSegments: number
  readonly smsNumbers: NumberCheck
}): SmsKind {
  const { maxSmsSegments, smsNumbers } = options
  return {
    name: 'sms',
    ...phoneRecipient(smsNumbers),
    stops: true,
    // Carriers charge for empty texts too.
    isBlank: ({ body }) => body.trim() === '',
    assertText: ({ body }) => {
      boundedSmsText(body, maxSmsSegments)
    },
    measure: ({ body }) => smsText(body),
  }
}
