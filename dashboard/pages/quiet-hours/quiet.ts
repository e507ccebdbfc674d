import type { QuietHours, Weekday } from '../../../src/core/notification/quiet-hours.ts'
import type { Query } from '../../app/router.ts'
import { locale } from '../../ui/time.tsx'

/** What a person, an organization or a category has chosen. False: messages never wait. Null: no choice. */
export type QuietChoice = QuietHours | false | null

/** Whose quiet hours, and where the REST API has them. */
export interface QuietOwner {
  readonly level: 'person' | 'organization' | 'category'
  readonly path: string
  readonly query?: Query
  /** For labels of buttons. */
  readonly name: string
}

/** What a form holds. */
export interface QuietDraft {
  readonly kind: 'hours' | 'never'
  readonly zone: string
  readonly windows: readonly DraftWindow[]
  readonly except: readonly string[]
}

export interface DraftWindow {
  readonly days: readonly Weekday[]
  readonly from: string
  readonly to: string
}

export const DAYS: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

export const NIGHT: DraftWindow = { days: DAYS, from: '22:00', to: '07:00' }

export function draftOf(choice: QuietChoice): QuietDraft {
  if (!choice) {
    const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions()
    return { kind: choice === false ? 'never' : 'hours', zone, windows: [NIGHT], except: [] }
  }
  const { zone, windows, except = [] } = choice
  const shown = windows.map(({ days = DAYS, from, to }) => ({ days, from, to }))
  return { kind: 'hours', zone, windows: shown, except }
}

export function choiceOf({ kind, zone, windows, except }: QuietDraft): QuietHours | false {
  if (kind === 'never') return false
  return {
    zone: zone.trim(),
    windows: windows.map(({ days, from, to }) => ({
      ...(days.length === DAYS.length ? {} : { days }),
      from,
      to,
    })),
    ...(except.length === 0 ? {} : { except }),
  }
}

/** 5 January 1970 was a Monday. */
const MONDAY_MS = 4 * 86_400_000
const dayName = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
const dateName = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })

export function nameOfDay(day: Weekday): string {
  return dayName.format(MONDAY_MS + DAYS.indexOf(day) * 86_400_000)
}

export function nameOfDate(date: string): string {
  return dateName.format(Date.parse(date))
}

/** The days of a window, successive ones as a range: "Mon–Fri, Sun". */
export function namesOfDays(days: readonly Weekday[]): string {
  const runs: Weekday[][] = []
  for (const day of DAYS.filter((each) => days.includes(each))) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (run !== undefined && last !== undefined && DAYS.indexOf(day) === DAYS.indexOf(last) + 1) run.push(day)
    else runs.push([day])
  }
  return runs
    .map((run) => (run.length < 3 ? run : run.filter((_, at) => at === 0 || at === run.length - 1)))
    .map((run, at) => run.map(nameOfDay).join((runs[at]?.length ?? 0) < 3 ? ', ' : '–'))
    .join(', ')
}
