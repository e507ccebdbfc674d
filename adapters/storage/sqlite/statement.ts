import type { SQLOutputValue, StatementSync } from 'node:sqlite'
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './driver.ts'

/** A prepared statement with typed rows. */
export interface Statement<Row> {
  get(...values: SqliteValue[]): Row | undefined
  all(...values: SqliteValue[]): Row[]
  run(...values: SqliteValue[]): void
  /** Runs the statement. Returns the number of changed rows. */
  changes(...values: SqliteValue[]): number
  /** Runs the statement. Returns the row's id. */
  insert(...values: SqliteValue[]): number
}

/** Prepares a statement. That of `node:sqlite` from Node.js 22.16 on is used in its fastest way. */
export function prepareStatement<Row>(database: SqliteDatabase, sql: string): Statement<Row> {
  const prepared = database.prepare(sql)
  return {
    ...(isFast(prepared) ? fastReads<Row>(prepared) : reads<Row>(prepared)),
    changes: (...given) => Number(prepared.run(...given).changes),
    insert: (...given) => Number(prepared.run(...given).lastInsertRowid),
  }
}

type Reads<Row> = Pick<Statement<Row>, 'get' | 'all' | 'run'>

function reads<Row>(prepared: SqliteStatement): Reads<Row> {
  return {
    get: (...given) => prepared.all(...given)[0] as Row | undefined,
    all: (...given) => prepared.all(...given) as Row[],
    run: (...given) => void prepared.run(...given),
  }
}

function isFast(prepared: object): prepared is StatementSync {
  return 'setReturnArrays' in prepared && prepared.setReturnArrays !== undefined
}

/**
 * Builds the rows here, from column values. The runtime's own rows are hash tables with their own names, which cost most
 * of the time of reading.
 */
function fastReads<Row>(prepared: StatementSync): Reads<Row> {
  prepared.setReturnArrays(true)
  const names = prepared.columns().map(({ name }) => name)

  function toRow(found: unknown): Row {
    const values = found as readonly SQLOutputValue[]
    const row: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index += 1) row[names[index] as string] = values[index]
    return row as Row
  }

  return {
    get(...given) {
      const found = prepared.get(...given)
      return found === undefined ? undefined : toRow(found)
    },
    all: (...given) => prepared.all(...given).map(toRow),
    run(...given) {
      // One step completes a statement without rows. The runtime's `run` also reports changes, which costs a fifth of a
      // small write.
      prepared.get(...given)
    },
  }
}
