import {
  type QuietHours,
  type QuietWindow,
  quietHours,
  WEEKDAYS,
  type Weekday,
} from '../../core/notification/quiet-hours.ts'

/** The parts of a week that the page has a window for each. */
export const PARTS = ['week', 'weekend'] as const

export type Part = (typeof PARTS)[number]

/** Quiet hours that the page can show as fields: at most one window for each part of the week. */
export type FormHours = Pick<QuietHours, 'zone'> & { readonly [Name in Part]: QuietWindow | null }

/** The quiet hours that a posted form chooses; null as preset. `same`: as the page showed them. `wrong`: they are not sound. */
export type ChosenHours = QuietHours | false | null | 'same' | 'wrong'

const DAYS: Readonly<Record<Part, readonly Weekday[]>> = {
  week: ['mon', 'tue', 'wed', 'thu', 'fri'],
  weekend: ['sat', 'sun'],
}

/** The fields of the form, in order. */
const FIELDS = ['quiet', 'weekFrom', 'weekTo', 'weekendFrom', 'weekendTo', 'zone']

/** What the page shows, so that only what a person changes is stored. @param fields as posted */
export function shownAs(fields: URLSearchParams): string {
  return FIELDS.map((name) => fields.get(name) ?? '').join(' ')
}

/** Null: they have other windows than the form has fields. */
export function formHours({ zone, windows, except = [] }: QuietHours): FormHours | null {
  const parts = windows.map(({ days = WEEKDAYS }) => PARTS.filter((part) => isAmong(DAYS[part], days)))
  const isWhole = parts.every(
    (of, at) => of.flatMap((part) => DAYS[part]).length === (windows[at]?.days ?? WEEKDAYS).length,
  )
  const all = parts.flat()
  if (!isWhole || new Set(all).size !== all.length || except.length > 0) return null
  const windowOf = (part: Part) => windows.find((_, at) => parts[at]?.includes(part)) ?? null
  return { zone, week: windowOf('week'), weekend: windowOf('weekend') }
}

function isAmong(some: readonly Weekday[], days: readonly Weekday[]): boolean {
  return some.every((day) => days.includes(day))
}

/** Who enters times, and leaves the choice as it was, means them. */
function choiceOf(form: URLSearchParams): string | null {
  const choice = form.get('quiet')
  const [before, ...was] = (form.get('quietWas') ?? '').split(' ')
  const entered = FIELDS.slice(1, -1).some((name, at) => (form.get(name) ?? '') !== (was[at] ?? ''))
  return choice === before && entered ? 'own' : choice
}

/** The quiet hours of a posted form. */
export function chosenHours(form: URLSearchParams): ChosenHours {
  const choice = choiceOf(form)
  if (choice === null || choice === 'kept' || shownAs(form) === form.get('quietWas')) return 'same'
  if (choice === 'preset') return null
  if (choice === 'none') return false
  const [week = null, weekend = null] = PARTS.map((part) => {
    const from = form.get(`${part}From`) ?? ''
    const to = form.get(`${part}To`) ?? ''
    return from === '' && to === '' ? null : { days: DAYS[part], from, to }
  })
  const isOne = week !== null && week.from === weekend?.from && week.to === weekend.to
  const windows = isOne ? [{ from: week.from, to: week.to }] : [week, weekend].filter((each) => each !== null)
  const { success, data } = quietHours.safeParse({ zone: form.get('zone'), windows })
  return success ? data : 'wrong'
}
