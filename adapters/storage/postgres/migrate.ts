import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { SchemaStep } from '../../../src/core/ports/storage/inspection.ts'
import type { Connection, Runner } from './connection.ts'
import { isHeld } from './errors.ts'
import { quoted } from './literals.ts'
import { migrations } from './migrations/index.ts'
import { lockSchema } from './partitions.ts'

const SELECT_VERSION = 'SELECT coalesce(max(version), 0) AS version FROM carillon.schema_version'

/**
 * A migration that waits for a table lock, for example behind a backup, blocks all later statements on it. So it gives
 * up soon, lets them pass and retries, for about three minutes.
 */
const LOCK_MS = 500
const PAUSE_MS = 1_000
const MOST_TRIES = 120

/**
 * Migrates the schema in one transaction under a lock. Of several processes that start at once, one migrates. If the
 * schema is up to date, no lock is taken.
 */
export async function migrate(connection: Connection): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { schema } = connection
    if ((await exists(connection, schema)) && (await versionOf(connection)) === migrations.length) return
    try {
      await migrateOnce(connection)
      return
    } catch (error) {
      if (!isHeld(error) || tries === MOST_TRIES) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

function migrateOnce(connection: Connection): Promise<void> {
  const { schema } = connection
  return connection.transaction(async (tx) => {
    await tx.rows('SET LOCAL statement_timeout = 0')
    await tx.rows(`SET LOCAL lock_timeout = ${LOCK_MS}`)
    await lockSchema(tx, schema)
    if (!(await exists(tx, schema))) {
      // Uses an existing schema as it is: the role may lack the right to create one.
      const [found] = await tx.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
      if (found === undefined) await tx.rows(`CREATE SCHEMA ${quoted(schema)}`)
      await tx.rows(
        'CREATE TABLE carillon.schema_version (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
      )
    }
    const version = await versionOf(tx)
    for (const [index, script] of migrations.entries()) {
      if (index < version) continue
      await tx.script(script)
      await tx.rows('INSERT INTO carillon.schema_version (version) VALUES ($1)', [index + 1])
    }
  })
}

/** 0: there is no schema. Above the number of migrations: a later Carillon has migrated it. */
export async function storedVersion(connection: Connection): Promise<number> {
  if (!(await exists(connection, connection.schema))) return 0
  const [found] = await connection.rows<{ version: number }>(SELECT_VERSION)
  return found?.version ?? 0
}

/** The steps that {@link migrate} would run. */
export function pendingSteps({ textOf }: Connection, version: number): SchemaStep[] {
  return migrations.slice(version).map((sql, at) => ({ version: version + at + 1, sql: textOf(sql) }))
}

async function exists(runner: Runner, schema: string): Promise<boolean> {
  const [found] = await runner.rows(
    "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version'",
    [schema],
  )
  return found !== undefined
}

/** @throws NotifierError `invalid_configuration` if the schema is newer than this code */
async function versionOf(runner: Runner): Promise<number> {
  const [found] = await runner.rows<{ version: number }>(SELECT_VERSION)
  const version = found?.version ?? 0
  if (version <= migrations.length) return version
  throw new NotifierError('invalid_configuration', {
    message:
      `The database has schema version ${version}; this version of Carillon knows ${migrations.length}. ` +
      'Update Carillon, or use another schema.',
    details: { found: version, known: migrations.length },
  })
}
