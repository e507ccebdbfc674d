import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** Inserts the rows that Carillon wrote again, with plain SQLite, as a floor. */
export interface RawCopy {
  /** Inserts `count` notifications with all their rows, `perCommit` per commit. Returns `count`. */
  insert(count: number, perCommit: number): number
  close(): void
}

interface Table {
  readonly name: string
  readonly rows: readonly SQLInputValue[][]
  readonly insert: StatementSync
  /** Position of the id, which must be unique per copy. -1: SQLite numbers the rows. */
  readonly idColumn: number
}

/**
 * @param source a file in which Carillon has only accepted notifications
 * @param target a file with the same schema; gets WAL and full sync like Carillon's
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
  // Only the columns that an INSERT would name: row numbers and defaults must not cost the floor anything.
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
