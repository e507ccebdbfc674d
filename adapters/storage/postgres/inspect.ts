import type { MissingRight, StorageInspection } from '../../../src/core/ports/storage/inspection.ts'
import type { Connection } from './connection.ts'
import { quoted } from './literals.ts'
import { pendingSteps, storedVersion } from './migrate.ts'
import { migrations } from './migrations/index.ts'
import { nowOf } from './now.ts'

export async function inspect(connection: Connection): Promise<StorageInspection> {
  const missingRights = await missingRightsOf(connection)
  const isReadable = missingRights.length === 0
  // Without a right, even the version may be hidden.
  const version = await storedVersion(connection).catch((error: unknown) => {
    if (isReadable) throw error
    return null
  })
  return {
    version,
    needed: migrations.length,
    steps: version === null ? [] : pendingSteps(connection, version),
    now: await nowOf(connection),
    missingRights,
  }
}

const SELECT_ROLE = `
  SELECT current_user AS role, current_database() AS database,
    has_database_privilege(current_database(), 'CREATE') AS creates`

const SELECT_SCHEMA = `
  SELECT has_schema_privilege(oid, 'USAGE') AS uses, has_schema_privilege(oid, 'CREATE') AS creates
  FROM pg_namespace WHERE nspname = $1`

/** A migration and a new partition need the owner of the table, or a member of it. */
const SELECT_OWNERS = `
  SELECT DISTINCT pg_get_userbyid(relowner)::text AS owner FROM pg_class
  WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relkind IN ('r', 'p')
    AND NOT pg_has_role(current_user, relowner, 'USAGE')
  ORDER BY 1`

/** Owners may have taken rights from themselves. */
const SELECT_REVOKED = `
  SELECT privilege, count(*)::int AS tables
  FROM pg_class CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
  WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relkind IN ('r', 'p')
    AND pg_has_role(current_user, relowner, 'USAGE') AND NOT has_table_privilege(pg_class.oid, privilege)
  GROUP BY 1 ORDER BY 1`

async function missingRightsOf({ rows, schema }: Connection): Promise<MissingRight[]> {
  const [own] = await rows<{ role: string; database: string; creates: boolean }>(SELECT_ROLE)
  const role = quoted(own?.role ?? '')
  const [found] = await rows<{ uses: boolean; creates: boolean }>(SELECT_SCHEMA, [schema])
  if (found === undefined) {
    if (own?.creates === true) return []
    const grant = `GRANT CREATE ON DATABASE ${quoted(own?.database ?? '')} TO ${role}`
    return [{ purpose: `create the schema ${quoted(schema)}`, grant }]
  }
  const owners = await rows<{ owner: string }>(SELECT_OWNERS, [schema])
  const revoked = await rows<{ privilege: string; tables: number }>(SELECT_REVOKED, [schema])
  const inSchema = (privilege: string): string => `GRANT ${privilege} ON SCHEMA ${quoted(schema)} TO ${role}`
  return [
    ...(found.uses ? [] : [{ purpose: `use the schema ${quoted(schema)}`, grant: inSchema('USAGE') }]),
    ...(found.creates
      ? []
      : [{ purpose: `create tables in the schema ${quoted(schema)}`, grant: inSchema('CREATE') }]),
    ...owners.map(({ owner }) => ({
      purpose: `migrate the tables of ${quoted(owner)} and add partitions to them`,
      grant: `GRANT ${quoted(owner)} TO ${role}`,
    })),
    ...revoked.map(({ privilege, tables }) => ({
      purpose: `${privilege} on all tables (not on ${tables})`,
      grant: `GRANT ${privilege} ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ${role}`,
    })),
  ]
}
