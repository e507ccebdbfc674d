import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { organizationKind } from '../../../src/core/tenancy/organization.ts'
import { assertKind } from '../rows/record.ts'
import type { Connection, Runner } from './connection.ts'
import { claimScript } from './due-claim.ts'
import { quoted } from './literals.ts'
import { existing, lockSchema } from './partitions.ts'

type Named = Pick<RecordKind, 'name'>

/** The name of a kind's table, without a schema. */
export function nameOf({ name }: Named): string {
  return `r_${name}`
}

/** The table of a kind. */
export function tableOf(kind: Named): string {
  return `carillon.${nameOf(kind)}`
}

/** The function that finds records of a kind by ids and keys. */
export function functionOf({ name }: Named): string {
  return `carillon.find_${name}_1`
}

const claimNameOf = ({ name }: Named): string => `claim_${name}_1`

/** The function that claims due records of a kind. */
export function claimFunctionOf(kind: Named): string {
  return `carillon.${claimNameOf(kind)}`
}

const SELECT_TABLES = `
  SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'r\\_%' ORDER BY tablename`

const SELECT_FUNCTIONS = `
  SELECT proname AS name FROM pg_proc WHERE pronamespace = $1::regnamespace AND proname = ANY ($2::text[])`

/** Creates the tables that are missing, and what claims of due records need. Takes no lock if nothing is missing. */
export async function createRecordTables(
  connection: Connection,
  kinds: readonly RecordKind[],
): Promise<void> {
  for (const kind of kinds) assertKind(kind)
  if ((await missingOf(connection, connection.schema, kinds)) === '') return
  await connection.transaction(async (tx) => {
    await lockSchema(tx, connection.schema)
    await tx.script(await missingOf(tx, connection.schema, kinds))
  })
}

/** A script. Empty: nothing is missing. */
async function missingOf(runner: Runner, schema: string, kinds: readonly RecordKind[]): Promise<string> {
  const tables = new Map(kinds.map((kind) => [nameOf(kind), kind]))
  for (const name of await existing(runner, schema, [...tables.keys()])) tables.delete(name)
  const claims = new Map(kinds.flatMap((kind) => (kind.due === undefined ? [] : [[claimNameOf(kind), kind]])))
  if (claims.size > 0) {
    const names = [...claims.keys()]
    const rows = await runner.rows<{ name: string }>(SELECT_FUNCTIONS, [quoted(schema), names])
    for (const { name } of rows) claims.delete(name)
  }
  return [...[...tables.values()].map(createTable), ...[...claims.values()].map(createClaim)].join('')
}

function createClaim(kind: RecordKind): string {
  const organizations = tableOf(organizationKind)
  return claimScript({
    name: nameOf(kind),
    table: tableOf(kind),
    function: claimFunctionOf(kind),
    organizations,
  })
}

/** The tables of all kinds, also of those that only other processes know. */
export async function recordTables(runner: Runner, schema: string): Promise<string[]> {
  const rows = await runner.rows<{ name: string }>(SELECT_TABLES, [schema])
  return rows.map(({ name }) => `carillon.${name}`)
}

/**
 * The function is for the look-ups of nearly every request. It is planned once per connection. Each of its queries reads
 * one table by one array, without a join, so that the only possible plan walks the column's index, even if the table was
 * empty at planning time.
 */
function createTable(kind: RecordKind): string {
  const [name, table] = [nameOf(kind), tableOf(kind)]
  const found = `
    RETURN QUERY
    SELECT seq, id, organization, key, revision, version, created_at, value, v_now FROM ${table} WHERE`
  return `
CREATE TABLE ${table} (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at bigint NOT NULL,
  revision integer NOT NULL DEFAULT 1,
  version integer NOT NULL, -- of the newest kind that wrote it
  id text COLLATE "C" NOT NULL UNIQUE,
  organization text COLLATE "C" NOT NULL, -- empty: none
  key text COLLATE "C" UNIQUE,
  list text COLLATE "C",
  value text NOT NULL, -- JSON
  due_at bigint, -- of a claimed one, the end of its lease
  token bigint, -- of its claim
  claims integer NOT NULL DEFAULT 0,
  due_revision integer NOT NULL DEFAULT 0, -- the revision that these columns are of
  ready boolean NOT NULL DEFAULT false -- it has become due
);
CREATE INDEX ${name}_by_organization ON ${table} (organization, seq);
CREATE INDEX ${name}_by_list ON ${table} (organization, list, seq) WHERE list IS NOT NULL;
CREATE TRIGGER inserted AFTER INSERT ON ${table} REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION carillon.count_stored_1();
CREATE TRIGGER replaced AFTER UPDATE ON ${table} REFERENCING NEW TABLE AS added OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION carillon.count_stored_1();
CREATE TRIGGER removed AFTER DELETE ON ${table} REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION carillon.count_stored_1();

CREATE FUNCTION ${functionOf(kind)}(p_now bigint, p_ids text[], p_keys text[])
RETURNS TABLE (o_seq bigint, o_id text, o_organization text, o_key text, o_revision integer, o_version integer,
  o_created_at bigint, o_value text, o_now bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $look$
DECLARE
  v_now constant bigint := coalesce(p_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
BEGIN
  IF cardinality(p_ids) > 0 THEN${found} id = ANY (p_ids);
  END IF;
  IF cardinality(p_keys) > 0 THEN${found} key = ANY (p_keys);
  END IF;
END
$look$;
`
}
