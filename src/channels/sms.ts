import type { ChannelKind } from '../domain/channel-kind.ts'
import { assertPermittedCountry } from '../domain/sms-countries.ts'
import { canonicalNumber, isPhoneNumber, type NumberCheck } from './phone-number.ts'
import { boundedSmsText, smsText } from './sms-segments.ts'

export type SmsKind = ChannelKind<'sms', never>

/** The kind, by the options of a notifier. */
export function smsKind(options: {
  readonly maxSmsSegments: number
  readonly smsNumbers: NumberCheck
}): SmsKind {
  const { maxSmsSegments, smsNumbers } = options
  return {
    name: 'sms',
    recipient: 'a phone number in E.164 form such as +14155550123',
    checkRecipient(to) {
      if (isPhoneNumber(to, smsNumbers)) return null
      const expected = canonicalNumber(to)
      if (expected === to || !isPhoneNumber(expected, smsNumbers)) return { code: 'invalid_phone' }
      return {
        code: 'invalid_phone',
        message: `The phone number has a prefix that is only dialled within its country. Use ${expected}.`,
        expected,
      }
    },
    canonical: canonicalNumber,
    assertPermitted: (to, { smsCountries }) => assertPermittedCountry(to, smsCountries),
    // An empty text is charged all the same.
    isBlank: ({ body }) => body.trim() === '',
    assertText: ({ body }) => {
      boundedSmsText(body, maxSmsSegments)
    },
    measure: ({ body }) => smsText(body),
  }
}
