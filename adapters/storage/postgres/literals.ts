import { bound, type Value } from './values.ts'

/**
 * A text in a statement. In Base64, which needs no quoting whatever the text and the settings are; not as a value,
 * because Drizzle takes values only in objects of its own.
 */
export function literal(text: string): string {
  const encoded = Buffer.from(text, 'utf8').toString('base64')
  return `pg_catalog.convert_from(pg_catalog.decode('${encoded}', 'base64'), 'UTF8')`
}

/** The statement with its values in the places of `$1`, `$2`, …; lists are texts that it casts. */
export function withValues(statement: string, values: readonly Value[]): string {
  return statement.replaceAll(/\$(\d+)/g, (_, number) => {
    const value = bound(values[Number(number) - 1] ?? null)
    if (value === null) return 'NULL'
    return typeof value === 'string' ? literal(value) : `(${value})`
  })
}

/** An identifier, quoted. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
