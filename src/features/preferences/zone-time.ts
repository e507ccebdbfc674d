import { createBoundedCache } from '../../core/loop/bounded-cache.ts'

const SECOND_MS = 1_000
export const DAY_MS = 86_400_000

/** What the clocks of a time zone show. A reading is the shown date and time as if in UTC, in milliseconds since 1970. */
export interface ZoneTime {
  /** The reading at a moment in epoch milliseconds. */
  readingAt(at: number): number
  /**
   * The first moment at which clocks show a reading or a later one: of one that comes twice the first, of one that the clocks
   * skip the moment of the change.
   */
  firstAt(reading: number): number
}

/** The offsets around a day, in milliseconds. No zone has two changes within three days. */
interface Day {
  readonly before: number
  readonly after: number
  /** When the offset changes, in epoch milliseconds. */
  readonly change: number
}

/** Formatters are costly to make and hold far more memory than the offsets that they tell. */
const MOST_FORMATS = 16
/** More than there are names: otherwise messages to all zones in turn would read each anew. */
const MOST_ZONES = 1_000
const MOST_DAYS = 64

const formats = createBoundedCache<Intl.DateTimeFormat>(MOST_FORMATS)
const zones = createBoundedCache<ZoneTime>(MOST_ZONES)

/** @param name of an IANA time zone @returns null if this process does not know it */
export function zoneTime(name: string): ZoneTime | null {
  const known = zones.get(name)
  if (known !== undefined) return known
  try {
    formatOf(name)
  } catch {
    return null
  }
  const zone = zoneTimeOf(name)
  zones.set(name, zone, 1)
  return zone
}

/** @throws RangeError if this process does not know the zone */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  formats.set(timeZone, format, 1)
  return format
}

function zoneTimeOf(timeZone: string): ZoneTime {
  /** What sends ask about is now, so few days answer nearly all of it. */
  const days = new Map<number, Day>()

  function offsetAt(at: number): number {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatOf(timeZone).format(at)) ?? []
    const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
    return (sign === '-' ? -size : size) * SECOND_MS
  }

  /** @param at in the day, as a moment or a reading */
  function dayOf(at: number): Day {
    const number = Math.floor(at / DAY_MS)
    const known = days.get(number)
    if (known !== undefined) return known
    if (days.size >= MOST_DAYS) days.clear()
    const day = read((number - 1) * DAY_MS, (number + 2) * DAY_MS)
    days.set(number, day)
    return day
  }

  function read(from: number, to: number): Day {
    const before = offsetAt(from)
    const after = offsetAt(to)
    if (before === after) return { before, after, change: to }
    let [same, change] = [from, to]
    while (change - same > SECOND_MS) {
      const middle = same + Math.floor((change - same) / 2 / SECOND_MS) * SECOND_MS
      if (offsetAt(middle) === before) same = middle
      else change = middle
    }
    return { before, after, change }
  }

  return {
    readingAt(at) {
      const { before, after, change } = dayOf(at)
      return at + (at < change ? before : after)
    },
    firstAt(reading) {
      const { before, after, change } = dayOf(reading)
      const early = reading - before
      return early < change ? early : Math.max(reading - after, change)
    },
  }
}
