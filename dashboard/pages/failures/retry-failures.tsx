import { ask } from '../../app/api.ts'
import { type Run, useBulk } from '../../app/use-bulk.ts'
import { texts } from '../../texts/index.ts'
import { BulkDialog } from '../../ui/bulk-dialog.tsx'
import { count } from '../../ui/number.ts'
import type { Group } from './group.ts'

const said = texts.failures
const SKIPPED = ['expired', 'unroutable', 'contentRemoved'] as const
/** So many are retried by one request: few enough that a stop holds soon. */
const STEP = 200
const ALL = 1_000_000

interface RetryResult {
  readonly retried: number
  readonly skipped: {
    readonly expired: number
    readonly unroutable: number
    readonly contentRemoved: number
  }
  /** Null: all have been looked at. */
  readonly nextCursor: string | null
}

/** Asks before it retries a group of failures, and shows the progress. */
export function RetryFailures({
  group: { channel, code, provider },
  filter,
  onClose,
}: {
  readonly group: Group
  /** Which of the group: times. */
  readonly filter: Readonly<Record<string, string>>
  readonly onClose: () => void
}) {
  function retry(how: object, { patiently }: Run): Promise<RetryResult> {
    const chosen = { ...filter, channel, code, ...(provider === null ? {} : { provider }) }
    const body = { filter: chosen, ...how }
    return patiently(() => ask('/v1/dead-letters/retry', { method: 'POST', body }))
  }
  const state = useBulk<RetryResult>(
    (run) => retry({ dryRun: true, most: ALL }, run),
    async (_, run) => {
      let cursor: string | null = null
      do {
        const step: RetryResult = await retry({ most: STEP, ...(cursor === null ? {} : { cursor }) }, run)
        run.add(step.retried)
        cursor = step.nextCursor
      } while (cursor !== null && !run.signal.aborted)
      return cursor === null
    },
  )
  const done = count(state.done)
  const all = state.counted?.retried ?? 0
  return (
    <BulkDialog
      of={state}
      title={said.retryTitle}
      all={all}
      start={{ kind: 'primary', icon: 'refresh', children: said.start(count(all)) }}
      dismiss={texts.actions.cancel}
      progress={said.progress}
      report={<p>{state.phase === 'stopped' ? said.stopped(done) : said.done(done, count(all))}</p>}
      found={(counted) => <Counted of={counted} />}
      onClose={onClose}
    >
      <p class="long">{said.retryWhich(code, provider)}</p>
    </BulkDialog>
  )
}

/** What the server would do. */
function Counted({ of: { retried, skipped } }: { readonly of: RetryResult }) {
  return (
    <>
      <p>
        <strong>{retried === 0 ? said.nothing : said.willRetry(count(retried))}</strong>
      </p>
      {SKIPPED.filter((name) => skipped[name] > 0).map((name) => (
        <p key={name} class="muted">
          {said.skipped[name](count(skipped[name]))}
        </p>
      ))}
      {retried === 0 ? null : <p class="muted">{said.fixFirst}</p>}
    </>
  )
}
