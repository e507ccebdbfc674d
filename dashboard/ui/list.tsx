import type { ComponentChildren } from 'preact'
import type { ListState } from '../app/use-list.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { Empty, ErrorNote, Loading } from './states.tsx'

export interface Column<Item> {
  readonly title: string
  readonly cell: (item: Item) => ComponentChildren
  /** The column that a row is recognized by. */
  readonly main?: boolean
  /** Numbers and times stand at the right. */
  readonly end?: boolean
  /** The title is for screen readers alone: a column of buttons. */
  readonly quiet?: boolean
  /** In place of the title. */
  readonly head?: ComponentChildren
  /** Where one has it, each row has one line: cells are cut, and columns without a width share the rest. */
  readonly width?: string
}

/** A list as a table; on narrow screens each row becomes a card. */
export function List<Item>({
  label,
  state,
  columns,
  empty,
  filtered = false,
}: {
  readonly label: string
  readonly state: ListState<Item>
  readonly columns: readonly Column<Item>[]
  /** Shown where there is nothing at all. */
  readonly empty: ComponentChildren
  readonly filtered?: boolean
}) {
  const { items, error, fresh } = state
  if (items === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={state.reload} />
  return (
    <>
      {error === null ? null : <ErrorNote error={error} retry={state.reload} />}
      <div class="fresh" role="status">
        {fresh === 0 ? null : (
          <Button icon="refresh" onClick={state.showFresh}>
            {texts.list.fresh(fresh, state.freshIsLeast)}
          </Button>
        )}
      </div>
      {items.length === 0 ? (
        <NoRows filtered={filtered} hasMore={state.hasMore} empty={empty} />
      ) : (
        <Table label={label} items={items} columns={columns} keyOf={state.keyOf} />
      )}
      {state.hasMore ? (
        <p class="more">
          <Button busy={state.loadingMore} onClick={state.more}>
            {items.length === 0 ? texts.actions.moreSearch : texts.actions.more}
          </Button>
        </p>
      ) : null}
    </>
  )
}

function NoRows({
  filtered,
  hasMore,
  empty,
}: {
  readonly filtered: boolean
  readonly hasMore: boolean
  readonly empty: ComponentChildren
}) {
  if (!filtered && !hasMore) return <>{empty}</>
  return <Empty icon="search" title={hasMore ? texts.list.noMatchYet : texts.list.noMatch} />
}

export function Table<Item>({
  label,
  items,
  columns,
  keyOf,
}: {
  readonly label: string
  readonly items: readonly Item[]
  readonly columns: readonly Column<Item>[]
  readonly keyOf: (item: Item) => string
}) {
  const lines = columns.some(({ width }) => width !== undefined)
  return (
    <div class="table-frame">
      <table class={lines ? 'lines' : ''}>
        <caption class="unseen">{label}</caption>
        {lines ? (
          <colgroup>
            {columns.map(({ title, width }) => (
              <col key={title} style={{ width }} />
            ))}
          </colgroup>
        ) : null}
        <thead>
          <tr>
            {columns.map(({ title, end, quiet, head }) => (
              <th key={title} scope="col" class={end ? 'end' : ''}>
                {head ?? <span class={quiet ? 'unseen' : ''}>{title}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ title, cell, end, main, quiet }) =>
                main ? (
                  <th key={title} scope="row" data-title={title}>
                    {cell(item)}
                  </th>
                ) : (
                  <td key={title} class={end ? 'end' : ''} data-title={quiet ? undefined : title}>
                    {cell(item)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
