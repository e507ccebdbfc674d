import { texts } from '../../texts/index.ts'
import { DAYS, nameOfDate, namesOfDays, type QuietChoice } from './quiet.ts'

const said = texts.quietHours
/** The form shows the others. */
const SHOWN_DATES = 5

/** Quiet hours in words. */
export function QuietWords({ of: choice, none }: { readonly of: QuietChoice; readonly none: string }) {
  if (choice === null) return <span class="muted">{none}</span>
  if (choice === false) return <p>{said.never}</p>
  const { zone, windows, except = [] } = choice
  const dates = except.slice(0, SHOWN_DATES).map(nameOfDate).join('; ')
  return (
    <div class="quiet-words">
      <ul>
        {windows.map(({ days = DAYS, from, to }, at) => (
          // Equal windows may stand side by side.
          <li key={at}>
            {days.length === DAYS.length ? said.everyDay : namesOfDays(days)} {from}–{to}
          </li>
        ))}
      </ul>
      <p class="hint">{zone}</p>
      {except.length === 0 ? null : (
        <p class="hint">{said.exceptOn(dates, Math.max(0, except.length - SHOWN_DATES))}</p>
      )}
    </div>
  )
}
