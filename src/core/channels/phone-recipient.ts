import type { ChannelKind } from './channel-kind.ts'
import { canonicalNumber, isPhoneNumber, type NumberCheck, phoneIdentity } from './phone-number.ts'
import { assertPermittedCountry } from './sms-countries.ts'

/**
 * Validates and normalizes recipients that are phone numbers.
 *
 * @param oldForms whether the channel delivers to numbers in a form that their network has given up
 */
export function phoneRecipient(
  check: NumberCheck,
  oldForms: boolean,
): Required<Pick<ChannelKind, 'recipient' | 'checkRecipient' | 'canonical' | 'assertPermitted'>> {
  return {
    recipient: 'a phone number in E.164 form such as +14155550123',
    checkRecipient(to) {
      if (isPhoneNumber(to, check)) return null
      const expected = phoneIdentity(to)
      if (expected === to || !isPhoneNumber(expected, check)) return { code: 'invalid_phone' }
      const hasTrunk = canonicalNumber(to) !== to
      if (oldForms && !hasTrunk) return null
      const fault = hasTrunk
        ? 'contains a national trunk prefix'
        : 'is in a form that its country has replaced'
      return { code: 'invalid_phone', message: `The phone number ${fault}. Use ${expected}.`, expected }
    },
    canonical: phoneIdentity,
    assertPermitted: (to, { smsCountries }) => assertPermittedCountry(to, smsCountries),
  }
}
