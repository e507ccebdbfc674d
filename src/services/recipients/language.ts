import type { ParsedSend } from '../../domain/input/send.ts'
import { canonicalLocale, isTimeZone } from '../../domain/locale.ts'
import type { ResolvedPerson } from './people.ts'

/** The locale of a send, else of its person. Undefined: neither has one that exists. */
export function localeOf({ locale }: ParsedSend, person: ResolvedPerson | null): string | undefined {
  if (locale !== undefined || person?.locale === undefined) return locale
  return canonicalLocale(person.locale) ?? undefined
}

/** The time zone of a send, else of its person. Undefined: neither has one that exists. */
export function timeZoneOf({ timeZone }: ParsedSend, person: ResolvedPerson | null): string | undefined {
  if (timeZone !== undefined || person?.timeZone === undefined) return timeZone
  return isTimeZone(person.timeZone) ? person.timeZone : undefined
}
