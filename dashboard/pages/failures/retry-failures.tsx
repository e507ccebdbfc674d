import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { count } from '../../ui/number.ts'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import type { Group } from './group.ts'
import { type RetryResult, type RetryState, useRetry } from './use-retry.ts'

const said = texts.failures
const SKIPPED = ['expired', 'unroutable', 'contentRemoved'] as const

/** Asks whether a group of failures is to be retried, and shows how far that is. */
export function RetryFailures({
  group,
  filter,
  onClose,
}: {
  readonly group: Group
  /** Which of the group: times. */
  readonly filter: Readonly<Record<string, string>>
  readonly onClose: () => void
}) {
  const state = useRetry(group, filter)
  const { phase, counted, error } = state
  return (
    <Dialog title={said.retryTitle} {...(phase === 'running' ? {} : { onClose })}>
      <p class="long">{said.retryWhich(group.code, group.provider)}</p>
      {error === null ? null : (
        <ErrorNote error={error} {...(counted === null ? { retry: state.count } : {})} />
      )}
      {counted === null && error === null ? <Loading /> : null}
      {counted !== null && phase === 'asking' ? <Counted of={counted} /> : null}
      {phase === 'asking' ? null : <Progress of={state} />}
      <DialogActions>
        <Buttons of={state} onClose={onClose} />
      </DialogActions>
    </Dialog>
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

function Progress({ of: { phase, done, counted } }: { readonly of: RetryState }) {
  const all = counted?.retried ?? 0
  return (
    <>
      <progress aria-label={said.progress} max={all} value={done} />
      <p role="status">
        {phase === 'stopped' ? said.stopped(count(done)) : said.done(count(done), count(all))}
      </p>
    </>
  )
}

function Buttons({ of: state, onClose }: { readonly of: RetryState; readonly onClose: () => void }) {
  const { phase, counted } = state
  if (phase === 'running') {
    return (
      <Button icon="pause" onClick={state.stop}>
        {texts.actions.stop}
      </Button>
    )
  }
  const all = counted?.retried ?? 0
  return (
    <>
      <Button onClick={onClose}>{phase === 'asking' ? texts.actions.cancel : texts.actions.close}</Button>
      {phase === 'asking' && all > 0 ? (
        // Not awaited: while it runs, another button stands here.
        <Button kind="primary" icon="refresh" onClick={() => void state.run()}>
          {said.start(count(all))}
        </Button>
      ) : null}
    </>
  )
}
