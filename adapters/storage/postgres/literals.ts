import { bound, type Value } from './values.ts'

/**
 * A text in a statement, as Base64, which needs no quoting under any settings. Not a parameter, because Drizzle accepts
 * parameters only in its own objects.
 */
export function literal(text: string): string {
  const encoded = Buffer.from(text, 'utf8').toString('base64')
  return `pg_catalog.convert_from(pg_catalog.decode('${encoded}', 'base64'), 'UTF8')`
}

/** Replaces `$1`, `$2`, … by literals. Lists become texts that the statement casts. */
export function withValues(statement: string, values: readonly Value[]): string {
  return statement.replaceAll(/\$(\d+)/g, (_, number) => {
    const value = bound(values[Number(number) - 1] ?? null)
    if (value === null) return 'NULL'
    return typeof value === 'string' ? literal(value) : `(${value})`
  })
}

/** A quoted identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
