import { useSignal } from '@preact/signals'
import { lazy } from '../../app/lazy.tsx'
import type { Query } from '../../app/router.ts'
import { may } from '../../app/session.ts'
import type { ListState } from '../../app/use-list.ts'
import type { Selection } from '../../app/use-selection.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { SelectionBar } from '../../ui/selection.tsx'
import type { Summary } from './notification.ts'
import type { BulkAction } from './selected.ts'

const ActOnSelected = lazy(async () => (await import('../on-demand.ts')).ActOnSelected)

const said = texts.selection

/** What can be done to the rows that are selected. */
export function SelectedRows({
  of: selection,
  list,
  query,
}: {
  readonly of: Selection
  readonly list: ListState<Summary>
  /** What the list shows. */
  readonly query: Query
}) {
  const acting = useSignal<BulkAction | null>(null)
  const act = (action: BulkAction) => (): void => {
    acting.value = action
  }
  return (
    <>
      <SelectionBar of={selection} hasMore={list.hasMore}>
        <Button icon="close" onClick={act('cancel')}>
          {said.cancel}
        </Button>
        {may('Full Access') ? (
          <Button icon="refresh" onClick={act('retry')}>
            {said.retry}
          </Button>
        ) : null}
      </SelectionBar>
      {acting.value === null ? null : (
        <ActOnSelected
          action={acting.value}
          selected={selection.whole ? { query } : { ids: [...selection.ids] }}
          onChange={list.put}
          onClose={(done) => {
            acting.value = null
            if (done) selection.clear()
          }}
        />
      )}
    </>
  )
}
