import { getCountries, getCountryCallingCode } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'
import { NotifierError } from '../errors/notifier-error.ts'

/** The calling codes of all countries with plus signs. */
const CALLING_CODES: ReadonlySet<string> = new Set(
  getCountries(metadata).map((country) => `+${getCountryCallingCode(country, metadata)}`),
)
/** An area code of the North American plan, in which many countries share a calling code. */
const NORTH_AMERICAN_AREA = /^\+1[2-9]\d{2}$/

/** Whether a text is a country's calling code (`+49`), or `+1` with an area code (`+1876`). */
export function isCallingCode(code: string): boolean {
  return CALLING_CODES.has(code) || NORTH_AMERICAN_AREA.test(code)
}

/**
 * Checks the destination of a text message against an organization's list. This limits "SMS pumping": fraudsters cause
 * messages to expensive numbers in countries without users.
 *
 * @param countries calling codes; null: all are permitted
 * @throws NotifierError `region_not_permitted`
 */
export function assertPermittedCountry(to: string, countries: readonly string[] | null): void {
  // No calling code is a prefix of another.
  if (countries === null || countries.some((code) => to.startsWith(code))) return
  throw new NotifierError('region_not_permitted', {
    message: 'The organization does not permit text messages to the country of this number.',
    details: { field: 'to', permitted: countries },
  })
}
