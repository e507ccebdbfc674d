/*! The code of libphonenumber-js is included: Copyright (c) 2016 @catamphetamine, MIT License. */
import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'

const E164 = /^\+[1-9]\d{6,14}$/
/** North American area codes do not begin with 0 or 1. */
const NO_AREA_CODE = /^\+1[01]/

/**
 * Old forms of mobile numbers that still reach the phone, with the present form. WhatsApp keeps the form in which an
 * account was made.
 */
const OLD_FORMS: readonly (readonly [form: RegExp, present: string])[] = [
  // Brazil: the ninth digit of mobile numbers (Anatel, 2012 to 2016). Landlines begin with 2 to 5.
  [/^\+55(?<area>[1-9]{2})(?<rest>[6-9]\d{7})$/, '+55$<area>9$<rest>'],
  // Mexico: the 1 before mobile numbers from abroad, dropped in 2019.
  [/^\+521(?<rest>[2-9]\d{9})$/, '+52$<rest>'],
  // Argentina: the 9 before mobile numbers from abroad. No landline has the number of a mobile phone.
  [/^\+54(?<rest>[1-3]\d{9})$/, '+549$<rest>'],
  // Ivory Coast: two digits by operator, which the second digit of old numbers names (ARTCI, 2021).
  [/^\+225(?<rest>[04-9][0-3]\d{6})$/, '+22501$<rest>'],
  [/^\+225(?<rest>[04-9][4-6]\d{6})$/, '+22505$<rest>'],
  [/^\+225(?<rest>[04-9][7-9]\d{6})$/, '+22507$<rest>'],
]

/** `possible`: the number has a valid length for its country. `valid`: it also matches its country's numbering plan. */
export type NumberCheck = 'possible' | 'valid'

/**
 * The E.164 form of a phone number without a trunk prefix: networks treat `+4407911123456` and `+447911123456` as one
 * phone. Other texts stay unchanged.
 */
export function canonicalNumber(to: string): string {
  return parse(to)?.number ?? to
}

/** The same for all numbers of one phone: {@link canonicalNumber} in its present form. */
export function phoneIdentity(to: string): string {
  const number = canonicalNumber(to)
  const [form, present] = OLD_FORMS.find(([old]) => old.test(number)) ?? []
  return form === undefined || present === undefined ? number : number.replace(form, present)
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
  return E164.test(to) ? parsePhoneNumberFromString(to, { extract: false }, metadata) : undefined
}
