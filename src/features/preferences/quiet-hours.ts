import { DAY_MINUTES, minutesOf, type QuietHours, WEEKDAYS } from '../../core/notification/quiet-hours.ts'
import { DAY_MS, type ZoneTime, zoneTime } from './zone-time.ts'

const MINUTE_MS = DAY_MS / DAY_MINUTES

/** The end of quiet hours. */
export interface QuietEnd {
  /** Epoch milliseconds. */
  readonly at: number
  /** What clocks of the zone show then: `07:00`. */
  readonly shown: string
}

/** A window on a date, in epoch milliseconds. */
interface Span {
  readonly begin: number
  readonly end: number
}

/** The windows that begin on a date, which is given in days since 1970. */
type SpansOn = (date: number) => readonly Span[]

/** When quiet hours end. Null: it is not quiet. @param at a moment in epoch milliseconds */
export function quietUntil(hours: QuietHours, at: number): QuietEnd | null {
  const zone = zoneTime(hours.zone)
  // Another process with newer zones may have stored it. One person's must not stop the messages of all.
  if (zone === null) return null
  const spansOn = spansIn(hours, zone)
  let until = at
  for (;;) {
    const end = lastEnd(spansOn, Math.floor(zone.readingAt(until) / DAY_MS), until)
    if (end <= until) break
    until = end
  }
  if (until === at) return null
  return { at: until, shown: new Date(zone.readingAt(until)).toISOString().slice(11, 16) }
}

/** The last end of the windows that have begun at a moment of a day. */
function lastEnd(spansOn: SpansOn, today: number, at: number): number {
  let last = Number.NEGATIVE_INFINITY
  // Tomorrow has begun before if clocks were set back over midnight.
  for (const date of [today - 1, today, today + 1]) {
    for (const { begin, end } of spansOn(date)) if (begin <= at && end > last) last = end
  }
  return last
}

/** Windows that adjoin ask for each date again. */
function spansIn(hours: QuietHours, zone: ZoneTime): SpansOn {
  const known = new Map<number, readonly Span[]>()
  return (date) => {
    const spans = known.get(date) ?? spansOf(hours, zone, date)
    known.set(date, spans)
    return spans
  }
}

function spansOf({ windows, except }: QuietHours, zone: ZoneTime, date: number): readonly Span[] {
  const midnight = date * DAY_MS
  if (except?.includes(new Date(midnight).toISOString().slice(0, 10))) return []
  const weekday = WEEKDAYS[new Date(midnight).getUTCDay()] ?? 'sun'
  return windows
    .filter(({ days }) => days?.includes(weekday) !== false)
    .map(({ from, to }) => ({
      begin: zone.firstAt(midnight + minutesOf(from) * MINUTE_MS),
      end: zone.firstAt(midnight + minutesOf(to) * MINUTE_MS + (from < to ? 0 : DAY_MS)),
    }))
}
