import type { ComponentChildren } from 'preact'
import type { BulkState } from '../app/use-bulk.ts'
import { bulk } from '../texts/bulk.ts'
import { texts } from '../texts/index.ts'
import { Button, type ButtonProps } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { ErrorNote, Loading } from './states.tsx'

/** Asks before an action on many items, and shows its progress. */
export function BulkDialog<Counted>({
  of: state,
  title,
  all,
  start,
  dismiss,
  progress,
  report,
  found,
  children,
  onClose,
}: {
  readonly of: BulkState<Counted>
  readonly title: string
  /** The number of items that it can change. */
  readonly all: number
  /** The button that starts it. */
  readonly start: Pick<ButtonProps, 'children' | 'icon' | 'kind'>
  /** Text of the button that changes nothing. */
  readonly dismiss: string
  /** Label of the bar. */
  readonly progress: string
  /** The progress in words. */
  readonly report: ComponentChildren
  /** What the action would do. */
  readonly found: (counted: Counted) => ComponentChildren
  readonly children?: ComponentChildren
  readonly onClose: () => void
}) {
  const { phase, counted, done, error } = state
  const asking = phase === 'asking'
  return (
    <Dialog title={title} {...(phase === 'running' ? {} : { onClose })}>
      {children}
      {error === null ? null : (
        <ErrorNote error={error} {...(counted === null ? { retry: state.count } : {})} />
      )}
      {counted === null && error === null ? <Loading /> : null}
      {counted !== null && asking ? found(counted) : null}
      {asking ? null : <progress aria-label={progress} max={Math.max(all, done)} value={done} />}
      <Report of={state}>{asking ? null : report}</Report>
      <DialogActions>
        {phase === 'running' ? (
          <Button icon="pause" onClick={state.stop}>
            {texts.actions.stop}
          </Button>
        ) : (
          <Button onClick={onClose}>{asking ? dismiss : texts.actions.close}</Button>
        )}
        {asking && all > 0 ? (
          // Not awaited: while it runs, another button stands here.
          <Button {...start} onClick={() => void state.run()} />
        ) : null}
      </DialogActions>
    </Dialog>
  )
}

function Report({
  of: { waiting, error },
  children,
}: {
  readonly of: Pick<BulkState<unknown>, 'waiting' | 'error'>
  readonly children: ComponentChildren
}) {
  return (
    <div role="status">
      {children}
      {waiting ? <p class="muted">{bulk.waiting}</p> : null}
      {error?.code === 'session_required' ? <p>{bulk.sessionEnded}</p> : null}
    </div>
  )
}
