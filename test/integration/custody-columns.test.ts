import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { custodyChecks } from '../../src/testing/storage/custody.ts'
import { MARKER } from '../../src/testing/storage/custody-fixtures.ts'
import type { StorageHarness } from '../../src/testing/storage/harness.ts'
import { CONTRACT_START } from '../../src/testing/storage/record-fixtures.ts'
import { CUSTODY } from '../support/custody-columns.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'
import { sqliteHarness } from '../support/sqlite-harness.ts'

type Tables = Readonly<Record<string, readonly string[]>>

/** Columns that the contract's check does not reach: they hold ids of uploads, and of runs that 8,192 accepts fill. */
const NOT_PLANTED = ['addresses.address', 'named_uploads.upload']

/** Tables of records: their kinds say what they hold. */
const isOfRecords = (table: string): boolean => table.startsWith('r_')

function namesIn(tables: Tables): string[] {
  return Object.entries(tables).flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`))
}

const declared = Object.fromEntries(
  Object.entries(CUSTODY).map(([table, columns]) => [table, Object.keys(columns)]),
)

/** A database under the contract's harness. */
interface Opened {
  readonly harness: StorageHarness
  columns(): Promise<Tables>
  /** Whether a value of a column names the person. */
  names(table: string, column: string): Promise<boolean>
}

async function onSqlite(): Promise<Opened> {
  const opened: DatabaseSync[] = []
  class Kept extends DatabaseSync {
    constructor(file: string) {
      super(file)
      opened.push(this)
    }
  }
  const harness = await sqliteHarness(undefined, Kept)
  const [database] = opened
  if (database === undefined) throw new Error('the storage has opened nothing')
  return {
    harness,
    async columns() {
      const tables = database.prepare(
        "SELECT name FROM sqlite_master WHERE name LIKE 'carillon#_%' ESCAPE '#' AND type = 'table'",
      )
      return Object.fromEntries(
        tables.all().map(({ name }) => {
          const columns = database.prepare(`PRAGMA table_info("${name}")`).all()
          return [String(name).slice('carillon_'.length), columns.map((column) => String(column.name))]
        }),
      )
    },
    async names(table, column) {
      const sql = `SELECT 1 FROM carillon_${table} WHERE instr(${column}, ?) > 0`
      return database.prepare(sql).get(MARKER) !== undefined
    },
  }
}

async function onPostgres(): Promise<Opened> {
  const pool = new pg.Pool({ connectionString: await sharedPostgres() })
  onTestFinished(() => pool.end())
  const harness = await postgresHarness()
  const { rows } = await pool.query(
    "SELECT table_schema AS name FROM information_schema.tables WHERE table_name = 'callers_own'",
  )
  const schema: string = rows[0].name
  return {
    harness,
    async columns() {
      const found = await pool.query<{ name: string; columns: string[] }>(
        `SELECT c.table_name AS name, array_agg(c.column_name::text) AS columns FROM information_schema.columns AS c
         JOIN pg_class AS t ON t.relname = c.table_name AND t.relnamespace = $1::regnamespace
         WHERE c.table_schema = $2 AND c.table_name <> 'callers_own' AND NOT t.relispartition GROUP BY 1`,
        [`"${schema}"`, schema],
      )
      return Object.fromEntries(found.rows.map(({ name, columns }) => [name, columns]))
    },
    async names(table, column) {
      const sql = `SELECT 1 FROM "${schema}".${table} WHERE strpos(${column}::text, $1) > 0 LIMIT 1`
      return (await pool.query(sql, [MARKER])).rows.length > 0
    },
  }
}

/** A check of the contract. */
function checkNamed(wanted: string): (harness: StorageHarness) => Promise<void> {
  const found: ((harness: StorageHarness) => Promise<void>)[] = []
  custodyChecks((title, run) => {
    if (title === wanted) found.push(run)
  })
  const [check] = found
  if (check === undefined) throw new Error(`the contract has no check "${wanted}"`)
  return check
}

const databases = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
] as const

test.each(databases)('every column of %s says what erasure and export do with it', async (_, open) => {
  const { harness, columns } = await open()
  onTestFinished(async () => {
    await harness.storage.stop()
    await harness.close?.()
  })
  const found = Object.entries(await columns()).filter(([table]) => !isOfRecords(table))
  const unsaid = namesIn(Object.fromEntries(found)).filter((name) => !namesIn(declared).includes(name))
  expect(unsaid).toEqual([])
})

test('no column is declared that neither has', async () => {
  const all = await Promise.all(
    databases.map(async ([, open]) => {
      const { harness, columns } = await open()
      const found = namesIn(await columns())
      await harness.storage.stop()
      await harness.close?.()
      return found
    }),
  )
  expect(namesIn(declared).filter((name) => !all.flat().includes(name))).toEqual([])
})

test.each(databases)(
  'the contract plants the person in every column of %s that is erased',
  async (_, open) => {
    const { harness, columns, names } = await open()
    onTestFinished(async () => {
      await harness.storage.stop()
      await harness.close?.()
    })
    await harness.storage.start(CONTRACT_START)
    let empty: string[] | undefined
    let named: string[] = []
    async function look(): Promise<void> {
      const all = namesIn(await columns()).filter((name) => !isOfRecords(name))
      const seen = await Promise.all(
        all.map(async (name) => {
          const [table = '', column = ''] = name.split('.')
          const isErased = CUSTODY[table]?.[column] !== 'stays'
          return isErased ? { name, planted: await names(table, column) } : { name, planted: null }
        }),
      )
      named = seen.flatMap(({ name, planted }) => (planted === true ? [name] : []))
      empty ??= seen.flatMap(({ name, planted }) => (planted === false ? [name] : []))
    }
    const { dump } = harness
    if (dump === undefined) throw new Error('the harness dumps nothing')
    await checkNamed('nothing that is stored names an erased person')({
      ...harness,
      async dump() {
        await look()
        return dump()
      },
    })
    expect(empty?.filter((name) => !NOT_PLANTED.includes(name))).toEqual([])
    expect(named).toEqual([])
  },
)
