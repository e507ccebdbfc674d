import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { parseInput } from '../../../../src/core/input/parse.ts'
import {
  minutesOf,
  type QuietHours,
  type QuietWindow,
  quietHours,
  WEEKDAYS,
} from '../../../../src/core/notification/quiet-hours.ts'
import { quietUntil } from '../../../../src/features/preferences/quiet-hours.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const night: QuietWindow = { from: '22:00', to: '07:00' }

function until(hours: QuietHours, at: string): string | null {
  const end = quietUntil(hours, Date.parse(at))
  return end === null ? null : new Date(end.at).toISOString().slice(0, 16)
}

function inZurich(...windows: readonly QuietWindow[]): QuietHours {
  return { zone: 'Europe/Zurich', windows }
}

describe('quiet hours', () => {
  it('last over midnight', () => {
    const hours = inZurich(night)
    expect(until(hours, '2026-01-15T20:59:59.999Z')).toBeNull()
    expect(until(hours, '2026-01-15T21:00:00Z')).toBe('2026-01-16T06:00')
    expect(until(hours, '2026-01-16T05:59:59.999Z')).toBe('2026-01-16T06:00')
    expect(until(hours, '2026-01-16T06:00:00Z')).toBeNull()
  })

  it('belong to the day on which they begin', () => {
    const hours = inZurich({ ...night, days: ['fri'] })
    expect(until(hours, '2026-01-17T05:00:00Z')).toBe('2026-01-17T06:00')
    expect(until(hours, '2026-01-17T22:00:00Z')).toBeNull()
  })

  it('leave out dates on which they would begin', () => {
    const hours = { ...inZurich(night), except: ['2026-12-24'] }
    expect(until(hours, '2026-12-24T03:00:00Z')).toBe('2026-12-24T06:00')
    expect(until(hours, '2026-12-24T22:00:00Z')).toBeNull()
    expect(until(hours, '2026-12-25T03:00:00Z')).toBeNull()
    expect(until(hours, '2026-12-25T22:00:00Z')).toBe('2026-12-26T06:00')
  })

  it('join if they overlap or adjoin', () => {
    const weekend: QuietWindow = { days: ['sat', 'sun'], from: '07:00', to: '10:00' }
    expect(until(inZurich(night, weekend), '2026-01-16T22:00:00Z')).toBe('2026-01-17T09:00')
    const allOfSunday: readonly QuietWindow[] = [
      { days: ['sun'], from: '00:00', to: '12:00' },
      { days: ['sun'], from: '11:00', to: '00:00' },
    ]
    expect(until(inZurich(night, ...allOfSunday), '2026-01-17T22:00:00Z')).toBe('2026-01-19T06:00')
  })

  it('end at the change if clocks skip their end, and begin there if they skip their begin', () => {
    const early = inZurich({ from: '01:00', to: '02:30' })
    expect(until(early, '2026-03-29T00:30:00Z')).toBe('2026-03-29T01:00')
    const late = inZurich({ from: '02:30', to: '05:00' })
    expect(until(late, '2026-03-29T00:59:59Z')).toBeNull()
    expect(until(late, '2026-03-29T01:00:00Z')).toBe('2026-03-29T03:00')
    const skipped = inZurich({ from: '02:10', to: '02:40' })
    expect(until(skipped, '2026-03-29T01:00:00Z')).toBeNull()
  })

  it('end at the first of two ends', () => {
    const hours = inZurich({ from: '01:00', to: '02:30' })
    expect(until(hours, '2026-10-25T00:29:00Z')).toBe('2026-10-25T00:30')
    expect(until(hours, '2026-10-25T01:10:00Z')).toBeNull()
  })

  it('are none in a zone that this process does not know', () => {
    expect(until({ zone: 'Mars/Base', windows: [night] }, '2026-01-15T23:00:00Z')).toBeNull()
  })

  it('pass a day that a zone leaves out', () => {
    const hours: QuietHours = {
      zone: 'Pacific/Apia',
      windows: [{ days: ['thu'], from: '22:00', to: '07:00' }],
    }
    expect(until(hours, '2011-12-30T09:30:00Z')).toBe('2011-12-30T10:00')
  })
})

/** The formatters that work makes. */
function formattersOf(work: () => void): number {
  const real = Intl.DateTimeFormat
  const construct = vi.fn((...[target, given]: [typeof real, [string, object]]) => new target(...given))
  Intl.DateTimeFormat = new Proxy(real, { construct })
  try {
    work()
  } finally {
    Intl.DateTimeFormat = real
  }
  return construct.mock.calls.length
}

it('quiet hours in all zones keep what they read of a day, and few formatters', () => {
  const zones = Intl.supportedValuesOf('timeZone')
  const made = (year: number, some = zones) =>
    formattersOf(() => {
      for (const zone of some) until({ zone, windows: [night] }, `${year}-01-15T23:00:00Z`)
    })
  made(2033)
  expect(made(2033)).toBe(0)
  expect(made(2034)).toBe(zones.length)
  expect(made(2035, zones.slice(-16))).toBe(0)
  expect(made(2035, zones.slice(-17, -16))).toBe(1)
})

/** The minutes since 1970 that clocks show, read from another form than the rule reads. */
function readingsOf(zone: string): (minute: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const quarters = new Map<number, number>()
  return (minute) => {
    const quarter = Math.floor(minute / 15)
    const known = quarters.get(quarter)
    const reading = known ?? Date.parse(`${format.format(quarter * 15 * MINUTE).replace(' ', 'T')}Z`) / MINUTE
    if (known === undefined) quarters.set(quarter, reading)
    return reading + minute - quarter * 15
  }
}

/** The minutes of a span that are quiet: a window opens and closes when clocks first show its begin and end, or later. */
function quietMinutes(
  { windows, except = [] }: QuietHours,
  reading: (minute: number) => number,
  from: number,
  to: number,
) {
  const first = Math.floor((reading(from) * MINUTE) / DAY)
  const spans = Array.from(
    { length: Math.ceil(((to - from) * MINUTE) / DAY) + 4 },
    (_, at) => first - 1 + at,
  ).flatMap((day) => {
    const date = new Date(day * DAY)
    if (except.includes(date.toISOString().slice(0, 10))) return []
    return windows
      .filter(({ days = WEEKDAYS }) => days.includes(WEEKDAYS[date.getUTCDay()] ?? 'sun'))
      .map((window) => {
        const begin = day * 1_440 + minutesOf(window.from)
        const end = day * 1_440 + minutesOf(window.to)
        return { begin, end: end > begin ? end : end + 1_440, open: false, closed: false }
      })
  })
  const quiet: boolean[] = []
  for (let minute = from; minute < to; minute += 1) {
    const shown = reading(minute)
    for (const span of spans) {
      span.open ||= shown >= span.begin
      span.closed ||= shown >= span.end
    }
    quiet.push(spans.some(({ open, closed }) => open && !closed))
  }
  return quiet
}

const aTime = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 15, 30, 59))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
const aWindow: fc.Arbitrary<QuietWindow> = fc
  .record({
    days: fc.option(fc.subarray([...WEEKDAYS], { minLength: 1 }), { nil: undefined }),
    from: aTime,
    to: aTime,
  })
  .filter(({ from, to }) => from !== to)
const FIRST = Date.UTC(2021, 0, 1) / MINUTE
const LAST = Date.UTC(2031, 0, 1) / MINUTE

describe.each([
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'America/Santiago',
  'Africa/Casablanca',
])('quiet hours in %s', (zone) => {
  const reading = readingsOf(zone)
  const changes: number[] = []
  for (let day = FIRST; day < LAST; day += 1_440) {
    if (reading(day + 1_440) - reading(day) === 1_440) continue
    for (let minute = day; minute < day + 1_440; minute += 15)
      if (reading(minute + 15) - reading(minute) !== 15) changes.push(minute + 15)
  }

  /** Asks the rule at every minute from one that is not quiet, over four days. */
  function compare(hours: QuietHours, start: number): void {
    const from = start - 1_440
    const quiet = quietMinutes(hours, reading, from - 1_440, start + 9 * 1_440).slice(1_440)
    for (let at = 0; at < 4 * 1_440; at += 7) {
      const end = quiet.indexOf(false, at)
      if (end === -1) continue
      const expected = end === at ? null : (from + end) * MINUTE
      const actual = quietUntil(hours, (from + at) * MINUTE)?.at ?? null
      if (actual !== expected)
        expect([new Date((from + at) * MINUTE).toISOString(), actual]).toEqual(['', expected])
    }
  }

  it('agrees with clocks that are read minute by minute, over ten years', () => {
    const days = fc.integer({ min: FIRST / 1_440, max: LAST / 1_440 }).map((day) => day * 1_440)
    const start = changes.length === 0 ? days : fc.oneof(fc.constantFrom(...changes), days)
    const windows = fc.array(aWindow, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(windows, start, fc.boolean(), (given, minute, excepts) => {
        const date = new Date(reading(minute) * MINUTE).toISOString().slice(0, 10)
        compare({ zone, windows: given, ...(excepts ? { except: [date] } : {}) }, minute)
      }),
      { numRuns: 50 },
    )
  })

  it('agrees at each change of the clocks, with ends and begins around it', () => {
    for (const change of changes)
      for (const window of [
        { from: '01:00', to: '02:15' },
        { from: '02:15', to: '04:00' },
        { from: '23:15', to: '00:30' },
        { from: '00:15', to: '03:15' },
      ])
        compare({ zone, windows: [window] }, change)
  })
})

describe('wrong quiet hours', () => {
  const many = Array.from({ length: 15 }, (_, at) => ({ from: `0${at % 10}:00`, to: '11:30' }))
  const halves: readonly QuietWindow[] = [
    { from: '00:00', to: '12:00' },
    { from: '12:00', to: '00:00' },
  ]
  it.each<[unknown, string, RegExp]>([
    [{ zone: 'Europe/Zürich', windows: [night] }, 'zone', /IANA time zone/],
    [{ zone: '+05:45', windows: [night] }, 'zone', /name of an IANA time zone, .* not an offset/],
    [{ zone: '-23:58', windows: [night] }, 'zone', /not an offset/],
    [inZurich({ from: '07:00', to: '07:00' }), 'windows.0.to', /zero length or of all day/],
    [inZurich({ ...night, days: ['mon', 'tue', 'mon'] }), 'windows.0.days', /each day once/],
    [inZurich({ ...night, days: [] }), 'windows.0.days', /name a day/],
    [inZurich({ ...night, to: '24:00' }), 'windows.0.to', /00:00 to 23:59/],
    [inZurich({ ...night, to: '7:5' }), 'windows.0.to', /00:00 to 23:59/],
    [inZurich({ ...night, days: ['monday' as 'mon'] }), 'windows.0.days.0', /mon, tue, wed/],
    [{ ...inZurich(night), except: ['2026-02-30'] }, 'except.0', /a date that exists/],
    [{ ...inZurich(night), except: ['0000-01-01'] }, 'except.0', /1970 to 9999/],
    [{ ...inZurich(night), except: ['1969-12-31'] }, 'except.0', /1970 to 9999/],
    [{ ...inZurich(night), except: Array(101).fill('2026-12-24') }, 'except', /at most 100 dates/],
    [inZurich(...many), 'windows', /at most 14 windows/],
    [inZurich(), 'windows', /false instead/],
    [inZurich(...halves), 'windows', /wait for ever/],
    [{ windows: [night] }, 'zone', /is required/],
    [{ ...inZurich(night), until: '07:00' }, 'input', /until/],
  ])('%j are refused, by name', (hours, field, message) => {
    const error = expect.objectContaining({
      message: expect.stringMatching(message),
      details: expect.objectContaining({ field }),
    })
    expect(() => parseInput(quietHours, hours)).toThrow(error)
  })

  it.each([
    ['aMeRiCa/New_York', 'America/New_York'],
    ['utc', 'UTC'],
    ['etc/gmt+5', 'Etc/GMT+5'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
  ])('are stored with the zone %s as %s', (zone, stored) => {
    expect(parseInput(quietHours, { zone, windows: [night] }).zone).toBe(stored)
  })

  it('leave a minute of the week free', () => {
    const most = inZurich({ from: '00:00', to: '23:59' })
    expect(parseInput(quietHours, most)).toEqual(most)
  })
})
