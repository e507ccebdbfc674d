import { canonicalLocale } from '../../core/input/locale.ts'
import type { LocalTexts } from '../../core/links/texts/catalogue.ts'
import { type QuietHours, WEEKDAYS } from '../../core/notification/quiet-hours.ts'
import { escapeHtml } from '../../core/text/escape.ts'
import { type FormHours, formHours, PARTS, type Part, shownAs } from './quiet-form.ts'
import { DAY_MS } from './zone-time.ts'

type Texts = LocalTexts['texts']

/** The quiet hours that the page shows. */
export interface ShownQuiet {
  /** The person's choice. Null: none. */
  readonly chosen: QuietHours | false | null
  /** That of the organization, which counts without one. */
  readonly preset: QuietHours | false | null
  /** The likely time zone of the person. */
  readonly zone: string
}

/** The fields that choose quiet hours. */
export function quietFieldset({ chosen, preset, zone }: ShownQuiet, { texts, language }: LocalTexts): string {
  const inForm = chosen ? formHours(chosen) : null
  const hours = inForm ?? { zone, week: null, weekend: null }
  const isKept = chosen !== null && chosen !== false && inForm === null
  const choice = chosen === null ? 'preset' : chosen === false ? 'none' : isKept ? 'kept' : 'own'
  const radio = (value: string, label: string) =>
    `<label><input type="radio" name="quiet" value="${value}"${value === choice ? ' checked' : ''}><span>${label}</span></label>`
  const words = (of: QuietHours | false) => (of ? wordsOf(of, language) : escapeHtml(texts.quietNone))
  const byDefault = escapeHtml(texts.quietPreset) + (preset === null ? '' : `: ${words(preset)}`)
  const was = shownAs(new URLSearchParams([['quiet', choice], ['zone', hours.zone], ...timesOf(hours)]))
  return (
    `<fieldset aria-describedby="quiet"><legend>${escapeHtml(texts.quiet)}</legend>` +
    `<p id="quiet">${escapeHtml(texts.quietHint)}</p>` +
    `<input type="hidden" name="quietWas" value="${escapeHtml(was)}">` +
    radio('preset', byDefault) +
    radio('none', escapeHtml(texts.quietNone)) +
    (isKept ? radio('kept', `${escapeHtml(texts.quietKept)}: ${words(chosen)}`) : '') +
    radio('own', escapeHtml(texts.quietOwn)) +
    `<div class="own">${PARTS.map((part) => times(part, hours, texts)).join('')}` +
    `<label>${escapeHtml(texts.quietZone)}<select name="zone">${zones(hours.zone)}</select></label></div></fieldset>`
  )
}

function timesOf(hours: FormHours): [string, string][] {
  return PARTS.flatMap((part): [string, string][] => [
    [`${part}From`, hours[part]?.from ?? ''],
    [`${part}To`, hours[part]?.to ?? ''],
  ])
}

function times(part: Part, hours: FormHours, texts: Texts): string {
  const name = escapeHtml(part === 'week' ? texts.quietWeek : texts.quietWeekend)
  const field = (end: 'From' | 'To', value = '') => {
    const label = escapeHtml(end === 'From' ? texts.quietFrom : texts.quietTo)
    return `<label>${label}<input type="time" name="${part}${end}" value="${escapeHtml(value)}"></label>`
  }
  const window = hours[part]
  return `<div role="group" class="times" aria-label="${name}"><span>${name}</span>${field('From', window?.from)}${field('To', window?.to)}</div>`
}

function zones(chosen: string): string {
  const names = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', chosen])
  const option = (name: string) => `<option${name === chosen ? ' selected' : ''}>${escapeHtml(name)}</option>`
  return [...names].sort().map(option).join('')
}

/** A week from Monday, 5 January 1970. */
const MONDAY_MS = 4 * DAY_MS

function wordsOf({ zone, windows }: QuietHours, language: string): string {
  const locale = canonicalLocale(language) ?? 'en'
  const format = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
  const names = [1, 2, 3, 4, 5, 6, 0].map((day, at) => ({
    day: WEEKDAYS[day],
    name: format.format(MONDAY_MS + at * DAY_MS),
  }))
  const spans = windows.map(({ days, from, to }) => {
    const on = days === undefined ? [] : names.filter(({ day = 'mon' }) => days.includes(day))
    const named = on.length === 0 ? '' : `${escapeHtml(on.map(({ name }) => name).join(', '))} `
    return `${named}<bdi>${escapeHtml(`${from}–${to}`)}</bdi>`
  })
  return `${spans.join('; ')} <bdi>(${escapeHtml(zone)})</bdi>`
}
