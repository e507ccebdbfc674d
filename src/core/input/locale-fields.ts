import * as z from 'zod'
import { canonicalZone, isTimeZone, localeIn } from './locale.ts'

/** The name of a locale. Output: the canonical form of BCP 47. */
export const localeName: z.ZodType<string, string> = z.string().transform((name, { addIssue }) => {
  const canonical = localeIn(name)
  if (canonical !== null) return canonical
  addIssue({ code: 'custom', message: 'must be the name of a locale, such as de or fr-BE' })
  return z.NEVER
})

/** An IANA time zone. */
export const timeZoneName: z.ZodType<string, string> = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be an IANA time zone, such as Europe/Vienna')

/** The name of an IANA time zone, not an offset. Output: as {@link canonicalZone} spells it. */
export const zoneByName: z.ZodType<string, string> = z
  .string()
  .max(64)
  .refine(
    (name) => canonicalZone(name) !== null,
    'must be the name of an IANA time zone, such as Europe/Vienna, not an offset',
  )
  .overwrite((name) => canonicalZone(name) ?? name)
