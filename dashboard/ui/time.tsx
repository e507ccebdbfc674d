import { texts } from '../texts/index.ts'

/** Of words within the texts, and of numbers: the reader's region, where it is of the language of the texts. */
export const locale: string =
  navigator.languages.find((name) => name.startsWith(texts.language)) ?? texts.language

/** The language of the browser, with its clock of 12 or 24 hours. */
const DATES: string[] = [...navigator.languages]

const absolute = new Intl.DateTimeFormat(DATES, { dateStyle: 'medium', timeStyle: 'medium' })
const short = new Intl.DateTimeFormat(DATES, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
/** Days are UTC: with the zone of the reader, midnight may belong to the day before. */
const day = new Intl.DateTimeFormat(DATES, { month: 'long', day: 'numeric', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' })

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** How long ago something was, or how long until it is, as people say it. */
function ago(at: number, now: number = Date.now()): string {
  const distance = at - now
  for (const [unit, length] of UNITS) {
    if (Math.abs(distance) >= length) return relative.format(Math.trunc(distance / length), unit)
  }
  return relative.format(0, 'second')
}

const dayOfMonth = new Intl.DateTimeFormat(DATES, { month: 'short', day: 'numeric' })
const hour = new Intl.DateTimeFormat(DATES, { hour: '2-digit', minute: '2-digit' })

/** The beginning of an hour in the reader's zone. */
export function hourOf(at: string, style: 'hour' | 'day' | 'day and hour'): string {
  return { hour, day: dayOfMonth, 'day and hour': short }[style].format(new Date(at))
}

/** How long something takes or has taken, in its largest unit. */
export function duration(ms: number): string {
  const [unit, length] = UNITS.find(([, least]) => ms >= least) ?? UNITS[3]
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(locale, style).format(Math.floor(ms / length))
}

/** A time in the reader's zone; the title says it in full, and in UTC. */
export function Time({
  at,
  style = 'relative',
  none = texts.time.never,
}: {
  readonly at: string | null | undefined
  readonly style?: 'relative' | 'short' | 'full' | 'day'
  readonly none?: string
}) {
  if (at === null || at === undefined) return <span class="muted">{none}</span>
  const date = new Date(at)
  const shown = {
    relative: () => ago(date.getTime()),
    short: () => short.format(date),
    full: () => absolute.format(date),
    day: () => day.format(date),
  }
  return (
    <time
      dateTime={at}
      title={`${absolute.format(date)}\n${date.toISOString().replace('T', ' ').replace('Z', ' UTC')}`}
    >
      {shown[style]()}
    </time>
  )
}

/** A time as an input of the type `datetime-local` holds it. */
export function localInput(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, 16)
}
