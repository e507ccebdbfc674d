import { DatabaseSync } from 'node:sqlite'
import type { StorageLocation } from '../faults/store.ts'
import { onPostgres } from '../postgres.ts'

const ON_SQLITE = `SELECT coalesce(sql, '') AS line FROM sqlite_master WHERE name LIKE 'carillon%' OR tbl_name LIKE 'carillon%'`

/** Without the partitions of months, which are those of the time. */
const ON_POSTGRES = `
  WITH tables AS (
    SELECT oid, relname FROM pg_class
    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND relname !~ '_[0-9]{4}_[0-9]{2}$')
  SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
      (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)) AS line
    FROM tables JOIN pg_attribute ON attrelid = tables.oid WHERE attnum > 0 AND NOT attisdropped
  UNION ALL SELECT pg_get_indexdef(indexrelid) FROM tables JOIN pg_index ON indrelid = tables.oid
  UNION ALL SELECT concat_ws(' ', relname, pg_get_constraintdef(c.oid)) FROM tables JOIN pg_constraint AS c ON conrelid = tables.oid
  UNION ALL SELECT pg_get_triggerdef(t.oid) FROM tables JOIN pg_trigger AS t ON tgrelid = tables.oid WHERE NOT tgisinternal
  UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = $1::regnamespace`

/** Tables, indexes, triggers and functions, in an order of their own. */
export async function schemaOf(location: StorageLocation): Promise<string[]> {
  if ('sqlite' in location) {
    const database = new DatabaseSync(location.sqlite)
    const rows = database.prepare(ON_SQLITE).all()
    database.close()
    return rows.map(({ line }) => String(line)).sort()
  }
  const { url, schema } = location.postgres
  const { rows } = await onPostgres(url, (client) => client.query<{ line: string }>(ON_POSTGRES, [schema]))
  return rows.map(({ line }) => line.replaceAll(schema, 'carillon')).sort()
}
