import { NotifierError } from '../domain/errors/notifier-error.ts'

/** Decoded query parameters. */
export type Query = Readonly<Record<string, string>>

const EMPTY: Query = Object.freeze(Object.create(null))

/**
 * Decodes a query string. The result has no prototype, so that no name in it can mean anything else.
 *
 * @throws NotifierError `invalid_parameter` when a parameter is given twice: which one counts would be a guess
 */
export function parseQuery(raw: string): Query {
  if (raw === '') return EMPTY
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(raw)) {
    if (name in query) {
      throw new NotifierError('invalid_parameter', {
        message: `The query parameter "${name.slice(0, 50)}" is given more than once.`,
        details: { field: name.slice(0, 50) },
      })
    }
    query[name] = value
  }
  return query
}
