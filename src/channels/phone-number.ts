import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/min'

const E164 = /^\+[1-9]\d{6,14}$/
/** No area code of the North American plan begins with 0 or 1. */
const NO_AREA_CODE = /^\+1[01]/

/** `possible`: the number has a length that its country uses. `valid`: it also matches a pattern of its numbering plan. */
export type NumberCheck = 'possible' | 'valid'

/**
 * The E.164 form of a phone number, without a trunk prefix: networks take `+4407911123456` and `+447911123456` for one
 * phone. What is no phone number stays as it is.
 */
export function canonicalNumber(to: string): string {
  return parse(to)?.number ?? to
}

/** True for a phone number in E.164 form that has no other spelling. */
export function isPhoneNumber(to: string, check: NumberCheck): boolean {
  const parsed = parse(to)
  if (parsed === undefined || parsed.number !== to || NO_AREA_CODE.test(to)) return false
  // Regions that share a calling code differ in their trunk prefixes: a zero must be part of a number.
  const zero = to.startsWith(`+${parsed.countryCallingCode}0`)
  return zero || check === 'valid' ? parsed.isValid() : parsed.isPossible()
}

function parse(to: string): PhoneNumber | undefined {
  return E164.test(to) ? parsePhoneNumberFromString(to, { extract: false }) : undefined
}
