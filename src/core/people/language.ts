import type { SendFields } from '../accept/input.ts'
import { isTimeZone, localeIn } from '../input/locale.ts'
import type { ResolvedPerson } from './finder.ts'

type Chosen = Pick<SendFields, 'locale' | 'timeZone'>

/** The locale of a send or preview, else of its person. Undefined: neither has one that exists. */
export function localeOf({ locale }: Chosen, person: ResolvedPerson | null): string | undefined {
  if (locale !== undefined || person?.locale === undefined) return locale
  return localeIn(person.locale) ?? undefined
}

/** The time zone of a send or preview, else of its person. Undefined: neither has one that exists. */
export function timeZoneOf({ timeZone }: Chosen, person: ResolvedPerson | null): string | undefined {
  if (timeZone !== undefined || person?.timeZone === undefined) return timeZone
  return isTimeZone(person.timeZone) ? person.timeZone : undefined
}
