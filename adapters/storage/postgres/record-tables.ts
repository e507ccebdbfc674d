import type { RecordKind } from '../../../src/core/records/record-kind.ts'
import { assertKind } from '../rows/record.ts'
import type { Connection, Runner } from './connection.ts'
import { existing, lockSchema } from './partitions.ts'

type Named = Pick<RecordKind, 'name'>

const nameOf = ({ name }: Named): string => `r_${name}`

/** The table of a kind. */
export function tableOf(kind: Named): string {
  return `carillon.${nameOf(kind)}`
}

/** The function that finds records of a kind by ids and keys. */
export function functionOf({ name }: Named): string {
  return `carillon.find_${name}_1`
}

const SELECT_TABLES = `
  SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'r\\_%' ORDER BY tablename`

/** Creates the tables that are missing. Takes no lock if there are none. */
export async function createRecordTables(
  connection: Connection,
  kinds: readonly RecordKind[],
): Promise<void> {
  for (const kind of kinds) assertKind(kind)
  if ((await missingOf(connection, connection.schema, kinds)).length === 0) return
  await connection.transaction(async (tx) => {
    await lockSchema(tx, connection.schema)
    const missing = await missingOf(tx, connection.schema, kinds)
    await tx.script(missing.map(createTable).join(''))
  })
}

async function missingOf(
  runner: Runner,
  schema: string,
  kinds: readonly RecordKind[],
): Promise<RecordKind[]> {
  const named = new Map(kinds.map((kind) => [nameOf(kind), kind]))
  for (const name of await existing(runner, schema, [...named.keys()])) named.delete(name)
  return [...named.values()]
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
  value text NOT NULL -- JSON
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
