import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** Inserts the rows that Carillon wrote once more, with nothing but SQLite in between: the floor. */
export interface RawCopy {
  /** Inserts `count` notifications with everything that was stored for each, `perCommit` in a commit; gives `count`. */
  insert(count: number, perCommit: number): number
  close(): void
}

interface Table {
  readonly name: string
  readonly rows: readonly SQLInputValue[][]
  readonly insert: StatementSync
  /** Position of the id, which must be new in every copy; -1 where SQLite numbers the rows. */
  readonly idColumn: number
}

/**
 * @param source a database file in which Carillon accepted notifications and nothing else
 * @param target a database file with the same schema; gets WAL and full sync, as Carillon's
 */
export function rawCopy(source: string, target: string): RawCopy {
  const from = new DatabaseSync(source)
  const into = new DatabaseSync(target)
  into.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const tables = ['carillon_notifications', 'carillon_jobs'].map((name) => readTable(from, into, name))
  from.close()
  const begin = into.prepare('BEGIN IMMEDIATE')
  const commit = into.prepare('COMMIT')
  let copies = 0
  return {
    insert(count, perCommit) {
      for (let done = 0; done < count; done += perCommit) {
        begin.run()
        for (let row = 0; row < perCommit; row += 1) {
          copies += 1
          for (const table of tables) insertCopy(table, copies)
        }
        commit.run()
      }
      return count
    },
    close: () => into.close(),
  }
}

function readTable(from: DatabaseSync, into: DatabaseSync, name: string): Table {
  const columns = from
    .prepare(`SELECT name, type, pk FROM pragma_table_info('${name}')`)
    .all() as unknown as Column[]
  const numbered = (column: Column): boolean => column.pk === 1 && column.type === 'INTEGER'
  const records = from.prepare(`SELECT * FROM ${name} LIMIT 1000`).all() as Record<string, SQLInputValue>[]
  // Only what an INSERT would name: the row number and columns that the accept leaves at their defaults cost a floor nothing.
  const used = columns.filter(
    (column) => !numbered(column) && records.some((record) => record[column.name] !== null),
  )
  const names = used.map((column) => column.name)
  return {
    name,
    rows: records.map((record) => names.map((column) => record[column] ?? null)),
    insert: into.prepare(
      `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ),
    idColumn: used.findIndex(({ name: column, type }) => column === 'id' && type === 'TEXT'),
  }
}

interface Column {
  readonly name: string
  readonly type: string
  readonly pk: number
}

function insertCopy({ rows, insert, idColumn }: Table, copy: number): void {
  const row = rows[copy % rows.length] ?? []
  if (idColumn >= 0) row[idColumn] = `notif_${String(1_800_000_000_000 + copy)}0000000000000000`
  insert.run(...row)
}
