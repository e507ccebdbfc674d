import { useSignal } from '@preact/signals'
import { ApiError } from '../../app/api.ts'
import { useBulk } from '../../app/use-bulk.ts'
import { bulk } from '../../texts/bulk.ts'
import { texts } from '../../texts/index.ts'
import { BulkDialog } from '../../ui/bulk-dialog.tsx'
import { count } from '../../ui/number.ts'
import type { Summary } from './notification.ts'
import { actOnSelected, type BulkAction, type Counted, countSelected, type Selected } from './selected.ts'

const STARTS = {
  cancel: { kind: 'danger', icon: 'close' },
  retry: { kind: 'primary', icon: 'refresh' },
} as const

/** Those that were refused, by code. */
type Refused = ReadonlyMap<string, number>

/** Asks before it cancels or retries the selected notifications, and shows the progress. */
export function ActOnSelected({
  action,
  selected,
  onChange,
  onClose,
}: {
  readonly action: BulkAction
  readonly selected: Selected
  /** Called with each that has changed. */
  readonly onChange: (changed: Summary) => void
  /** `done`: all of them were tried. */
  readonly onClose: (done: boolean) => void
}) {
  const refused = useSignal<Refused>(new Map())
  const state = useBulk<Counted>(
    (run) => countSelected(action, selected, run),
    (counted, run) =>
      actOnSelected(action, counted, run, (outcome) => {
        if (!(outcome instanceof ApiError)) return onChange(outcome)
        const { code } = outcome
        refused.value = new Map([...refused.value, [code, (refused.value.get(code) ?? 0) + 1]])
      }),
  )
  const { phase, counted, done } = state
  const words = bulk[action]
  const all = counted?.possible.length ?? 0
  const allText = count(all, counted?.beyond === null)
  const changed = count(done - [...refused.value.values()].reduce((sum, more) => sum + more, 0))
  return (
    <BulkDialog
      of={state}
      title={words.title}
      all={all}
      start={{ ...STARTS[action], children: words.start(allText) }}
      dismiss={action === 'cancel' ? bulk.dismiss : texts.actions.cancel}
      progress={bulk.progress}
      report={
        phase === 'running' ? (
          <p>{bulk.running(count(done), allText)}</p>
        ) : (
          <>
            <p>{phase === 'done' ? words.done(changed) : words.stopped(changed)}</p>
            <Reasons of={refused.value} words={bulk.refused} />
          </>
        )
      }
      found={(found) => (
        <>
          <p>
            <strong>
              {all === 0 ? words.none : words.possible(allText, count(found.looked, found.beyond === null))}
            </strong>
          </p>
          <Reasons of={found.against} words={bulk.reasons} />
          {all === 0 ? null : <p class="muted">{words.hint}</p>}
        </>
      )}
      onClose={() => onClose(phase === 'done')}
    />
  )
}

function Reasons({
  of: counts,
  words,
}: {
  readonly of: ReadonlyMap<string, number>
  readonly words: Readonly<Partial<Record<string, (count: string) => string>>>
}) {
  return [...counts].map(([reason, number]) => (
    <p key={reason} class="muted">
      {words[reason]?.(count(number)) ?? `${count(number)} ${reason}`}
    </p>
  ))
}
