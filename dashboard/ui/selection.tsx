import type { ComponentChildren } from 'preact'
import type { Selection } from '../app/use-selection.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import type { Column } from './list.tsx'
import { count } from './number.ts'

const said = texts.selection

/** The column of checkboxes. */
export function selectionColumn<Item extends { readonly id: string }>(
  { shown, ids, head, choose, chooseShown }: Selection,
  nameOf: (item: Item) => string,
): Column<Item> {
  return {
    title: said.title,
    quiet: true,
    width: '2.5rem',
    head: (
      <label class="choose-shown">
        <input
          type="checkbox"
          ref={head}
          aria-label={said.rows}
          checked={ids.size > 0 && ids.size === shown.length}
          indeterminate={ids.size > 0 && ids.size < shown.length}
          onClick={(event) => chooseShown(event.currentTarget.checked)}
        />
        <span>{said.rows}</span>
      </label>
    ),
    cell: (item) => (
      <input
        type="checkbox"
        aria-label={said.row(nameOf(item))}
        checked={ids.has(item.id)}
        onClick={(event) => choose(item.id, event.currentTarget.checked, event.shiftKey)}
      />
    ),
  }
}

/** How many are selected, and what can be done to them. */
export function SelectionBar({
  of: { shown, ids, whole, chooseWhole, clear },
  hasMore,
  children,
}: {
  readonly of: Selection
  readonly hasMore: boolean
  readonly children: ComponentChildren
}) {
  const none = ids.size === 0
  return (
    <div class={none ? 'unseen' : 'selection'}>
      <p role="status">{none ? '' : whole ? said.whole : said.count(count(ids.size))}</p>
      {none ? null : (
        <>
          {hasMore && !whole && ids.size === shown.length ? (
            <Button kind="quiet" onClick={chooseWhole}>
              {said.chooseWhole}
            </Button>
          ) : null}
          {children}
          <Button kind="quiet" icon="close" label={said.clear} onClick={clear} />
        </>
      )}
    </div>
  )
}
