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

/** When quiet hours end. Null: it is not quiet. @param at a moment in epoch milliseconds */
export function quietUntil(hours: QuietHours, at: number): QuietEnd | null {
  const zone = zoneTime(hours.zone)
  // Another process with newer zones may have stored it. One person's must not stop the messages of all.
  if (zone === null) return null
  let until = at
  for (;;) {
    const end = lastEnd(hours, zone, until)
    if (end <= until) break
    until = end
  }
  if (until === at) return null
  return { at: until, shown: new Date(zone.readingAt(until)).toISOString().slice(11, 16) }
}

/** The last end of the windows that have begun at a moment. */
function lastEnd({ windows, except }: QuietHours, zone: ZoneTime, at: number): number {
  const today = Math.floor(zone.readingAt(at) / DAY_MS)
  let last = Number.NEGATIVE_INFINITY
  // Tomorrow has begun before if clocks were set back over midnight.
  for (const date of [today - 1, today, today + 1]) {
    if (except?.includes(new Date(date * DAY_MS).toISOString().slice(0, 10))) continue
    const weekday = WEEKDAYS[new Date(date * DAY_MS).getUTCDay()] ?? 'sun'
    for (const { days, from, to } of windows) {
      if (days?.includes(weekday) === false) continue
      const begin = date * DAY_MS + minutesOf(from) * MINUTE_MS
      if (zone.firstAt(begin) > at) continue
      const nights = from < to ? 0 : DAY_MS
      last = Math.max(last, zone.firstAt(date * DAY_MS + minutesOf(to) * MINUTE_MS + nights))
    }
  }
  return last
}
