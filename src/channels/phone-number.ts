import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/min'

const E164 = /^\+[1-9]\d{6,14}$/
/** North American area codes do not begin with 0 or 1. */
const NO_AREA_CODE = /^\+1[01]/

/** `possible`: the number has a valid length for its country. `valid`: it also matches its country's numbering plan. */
export type NumberCheck = 'possible' | 'valid'

/**
 * The E.164 form of a phone number without a trunk prefix: networks treat `+4407911123456` and `+447911123456` as one
 * phone. Other texts stay unchanged.
 */
export function canonicalNumber(to: string): string {
  return parse(to)?.number ?? to
}

/** True for a phone number in canonical E.164 form. */
export function isPhoneNumber(to: string, check: NumberCheck): boolean {
  const parsed = parse(to)
  if (parsed === undefined || parsed.number !== to || NO_AREA_CODE.test(to)) return false
  // Regions that share a calling code can have different trunk prefixes, so a zero must be part of the number.
  const zero = to.startsWith(`+${parsed.countryCallingCode}0`)
  return zero || check === 'valid' ? parsed.isValid() : parsed.isPossible()
}

function parse(to: string): PhoneNumber | undefined {
  return E164.test(to) ? parsePhoneNumberFromString(to, { extract: false }) : undefined
}
