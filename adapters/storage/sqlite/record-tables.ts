import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { assertKind, type RecordRow, ROW_BYTES } from '../rows/record.ts'
import type { Connection } from './connection.ts'
import type { Statement } from './statement.ts'

const PREFIX = 'carillon_r_'

export function tableOf({ name }: RecordKind): string {
  return PREFIX + name
}

const schemaOf = (table: string): string => `
  CREATE TABLE IF NOT EXISTS ${table} (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization TEXT NOT NULL, -- empty: none
    key TEXT UNIQUE,
    list TEXT,
    revision INTEGER NOT NULL DEFAULT 1,
    version INTEGER NOT NULL, -- of the newest kind that wrote it
    created_at INTEGER NOT NULL,
    value TEXT NOT NULL, -- JSON
    due_at INTEGER, -- of a claimed one, the end of its lease
    ready INTEGER NOT NULL DEFAULT 0, -- it has become due
    token INTEGER, -- of its claim
    claims INTEGER NOT NULL DEFAULT 0,
    due_revision INTEGER NOT NULL DEFAULT 0 -- the revision that these columns are of
  ) STRICT;
  CREATE INDEX IF NOT EXISTS ${table}_by_organization ON ${table} (organization, seq);
  CREATE INDEX IF NOT EXISTS ${table}_by_list ON ${table} (organization, list, seq) WHERE list IS NOT NULL;
  CREATE TRIGGER IF NOT EXISTS ${table}_inserted AFTER INSERT ON ${table} WHEN new.organization <> '' BEGIN
    INSERT INTO carillon_stored (organization, bytes) VALUES (new.organization, ${bytesIn('new')})
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER IF NOT EXISTS ${table}_replaced AFTER UPDATE OF value ON ${table} WHEN new.organization <> '' BEGIN
    UPDATE carillon_stored SET bytes = bytes + ${bytesIn('new')} - ${bytesIn('old')}
    WHERE organization = new.organization;
  END;
  CREATE TRIGGER IF NOT EXISTS ${table}_removed AFTER DELETE ON ${table} WHEN old.organization <> '' BEGIN
    UPDATE carillon_stored SET bytes = bytes - ${bytesIn('old')} WHERE organization = old.organization;
  END;`

/** Only kinds that fall due pay for them. */
const dueIndexesOf = (table: string): string => `
  CREATE INDEX IF NOT EXISTS ${table}_due ON ${table} (due_at) WHERE due_at IS NOT NULL AND ready = 0;
  CREATE INDEX IF NOT EXISTS ${table}_ready ON ${table} (organization, due_at, seq) WHERE ready = 1;
  CREATE INDEX IF NOT EXISTS ${table}_leased ON ${table} (due_at) WHERE token IS NOT NULL;
  CREATE INDEX IF NOT EXISTS ${table}_behind ON ${table} (seq) WHERE due_revision <> revision;`

/** As `bytesOf` counts. */
function bytesIn(row: 'new' | 'old'): string {
  return `(length(CAST(${row}.value AS BLOB)) + ${ROW_BYTES})`
}

/** Creates the table of a kind if it is missing. */
export function createTable(connection: Connection, kind: RecordKind): void {
  assertKind(kind)
  const table = tableOf(kind)
  connection.script(schemaOf(table) + (kind.due === undefined ? '' : dueIndexesOf(table)))
}

type Prepared<Row = never> = () => Statement<Row>

/** The statements of one table. */
export interface RecordStatements {
  readonly any: Prepared<{ readonly found: 1 }>
  readonly byId: Prepared<RecordRow>
  readonly byKey: Prepared<RecordRow>
  readonly tokenOf: Prepared<{ readonly token: number | null }>
  readonly insert: Prepared
  readonly replace: Prepared
  readonly remove: Prepared
  readonly removeOld: Prepared
  readonly removeSome: Prepared
  readonly list: Prepared<RecordRow>
  readonly listNamed: Prepared<RecordRow>
}

export interface RecordTables {
  statements(table: string): RecordStatements
  /** The tables of all kinds that any process has stored, also of kinds that this one does not know. */
  names(): string[]
}

export function createRecordTables(connection: Connection): RecordTables {
  const prepared = new Map<string, RecordStatements>()
  const named = connection.statement<{ readonly name: string }>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '${PREFIX}*' ORDER BY name`,
  )
  return {
    names: () =>
      named()
        .all()
        .map(({ name }) => name),
    statements(table) {
      let statements = prepared.get(table)
      if (statements === undefined) {
        statements = statementsOf(connection, table)
        prepared.set(table, statements)
      }
      return statements
    },
  }
}

function statementsOf({ statement }: Connection, table: string): RecordStatements {
  const columns = 'seq, id, organization, revision, version, created_at, value'
  const select = `SELECT ${columns} FROM ${table}`
  const page = 'AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?'
  return {
    any: statement(`SELECT 1 AS found FROM ${table} LIMIT 1`),
    byId: statement(`${select} WHERE id = ?`),
    tokenOf: statement(`SELECT token FROM ${table} WHERE seq = ?`),
    byKey: statement(`${select} WHERE key = ?`),
    insert: statement(
      `INSERT INTO ${table} (id, organization, key, list, version, value, due_at, due_revision, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    replace: statement(
      `UPDATE ${table} SET key = ?, list = ?, version = max(version, ?), value = ?, due_at = ?,
         due_revision = ? * (revision + 1), ready = 0, token = NULL, claims = 0, revision = revision + 1 WHERE seq = ?`,
    ),
    remove: statement(`DELETE FROM ${table} WHERE seq = ?`),
    removeOld: statement(
      `DELETE FROM ${table} WHERE seq IN
        (SELECT seq FROM ${table} WHERE organization = ? AND created_at <= ? ORDER BY seq LIMIT ?)`,
    ),
    removeSome: statement(
      `DELETE FROM ${table} WHERE seq IN (SELECT seq FROM ${table} WHERE organization = ? LIMIT ?)`,
    ),
    list: statement(`${select} WHERE organization = ? ${page}`),
    listNamed: statement(`${select} WHERE organization = ? AND list = ? ${page}`),
  }
}
