import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'

/** A prepared statement whose rows have a known form. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined
  all(...values: SQLInputValue[]): Row[]
  run(...values: SQLInputValue[]): void
  /** Runs it, and answers how many rows it changed. */
  changes(...values: SQLInputValue[]): number
  /** Runs it, and answers the row's id. */
  insert(...values: SQLInputValue[]): number
}

/**
 * Prepares a statement whose rows are made here, of its columns' values. Those that the runtime makes are hash tables with
 * names of their own: most of the time that reading a row takes, and reading from it.
 */
export function prepareStatement<Row>(database: DatabaseSync, sql: string): Statement<Row> {
  const prepared = database.prepare(sql)
  const toRow = rowsOf<Row>(prepared)
  return {
    get(...given) {
      const found = prepared.get(...given)
      return found === undefined ? undefined : toRow(found)
    },
    all: (...given) => prepared.all(...given).map(toRow),
    run(...given) {
      // One step runs what yields no rows to its end. The runtime's own `run` tells of changes, a fifth of a small write.
      prepared.get(...given)
    },
    changes: (...given) => Number(prepared.run(...given).changes),
    insert: (...given) => Number(prepared.run(...given).lastInsertRowid),
  }
}

/** Before Node.js 22.16 there are only the runtime's own rows. */
function rowsOf<Row>(prepared: StatementSync): (found: unknown) => Row {
  const { setReturnArrays } = prepared as Partial<StatementSync>
  if (setReturnArrays === undefined) return (found) => found as Row
  setReturnArrays.call(prepared, true)
  const names = prepared.columns().map(({ name }) => name)
  return function toRow(found) {
    const values = found as readonly SQLOutputValue[]
    const row: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index += 1) row[names[index] as string] = values[index]
    return row as Row
  }
}
