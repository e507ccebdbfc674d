import { getCountries, getCountryCallingCode } from 'libphonenumber-js/min'
import { NotifierError } from './errors/notifier-error.ts'

/** The calling codes of all countries, with their plus signs. */
const CALLING_CODES: ReadonlySet<string> = new Set(
  getCountries().map((country) => `+${getCountryCallingCode(country)}`),
)
/** An area code of the North American plan, where one calling code covers many countries. */
const NORTH_AMERICAN_AREA = /^\+1[2-9]\d{2}$/

/** Tells whether a text is a country's calling code with its plus sign (`+49`), or `+1` and an area code (`+1876`). */
export function isCallingCode(code: string): boolean {
  return CALLING_CODES.has(code) || NORTH_AMERICAN_AREA.test(code)
}

/**
 * Judges where a text message goes, against an organization's list. Fraudsters have text messages sent to expensive
 * numbers of countries that an application has no users in ("SMS pumping").
 *
 * @param countries calling codes; null: all are permitted
 * @throws NotifierError `region_not_permitted`
 */
export function assertPermittedCountry(to: string, countries: readonly string[] | null): void {
  // No calling code begins with another one, so the beginning of the number decides.
  if (countries === null || countries.some((code) => to.startsWith(code))) return
  throw new NotifierError('region_not_permitted', {
    message: 'The organization does not permit text messages to the country of this number.',
    details: { field: 'to', permitted: countries },
  })
}
