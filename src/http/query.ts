import * as z from 'zod'
import { NotifierError } from '../core/errors/notifier-error.ts'
import { listedNames, MOST_NAMES, shortName } from '../core/input/listed-names.ts'
import { nearestName } from '../core/input/nearest-name.ts'
import type { ParsedQuery, Query } from '../core/rest/query.ts'
import type { Route } from '../core/rest/route.ts'

/** `name[key]`, the style `deepObject` of OpenAPI. */
const IN_OBJECT = /^(\w+)\[([^[\]]*)\]$/

/** Gathers the parameters of objects that a route knows. */
export function withObjects(query: Query, { query: schema }: QueryReader): ParsedQuery {
  if (query === EMPTY || !(schema instanceof z.ZodObject)) return query
  const parsed: Record<string, string | Record<string, string>> = Object.create(null)
  for (const [name, value] of Object.entries(query)) {
    const [, object = '', key = ''] = IN_OBJECT.exec(name) ?? []
    if (!isObject(schema, object)) {
      parsed[name] = value
      continue
    }
    const known = parsed[object]
    const members: Record<string, string> = typeof known === 'object' ? known : Object.create(null)
    members[key] = value
    parsed[object] = members
  }
  return parsed
}

/** The only parameter that is an object. */
const OBJECT = 'metadata'

function isObject(schema: z.ZodObject, name: string): boolean {
  return name === OBJECT && OBJECT in schema.shape
}

/** The parts of a route that describe its query. */
type QueryReader = Pick<Route, 'query' | 'anyQuery' | 'belongsTo'>

const EMPTY: Query = Object.freeze(Object.create(null))

/**
 * Decodes a query string. The result has no prototype, so no parameter name can collide with one.
 *
 * @throws NotifierError `invalid_parameter` for a repeated parameter, whose value would be ambiguous
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

/** The query parameters that a route ignores. */
export function ignoredParameters(query: Query, route: QueryReader): readonly string[] {
  if (query === EMPTY || route.anyQuery === true) return []
  const known = knownParameters(route)
  return Object.keys(query).filter(
    (name) => !known.includes(name) && !(known.includes(OBJECT) && IN_OBJECT.exec(name)?.[1] === OBJECT),
  )
}

function knownParameters({ query, belongsTo }: QueryReader): readonly string[] {
  const own = query instanceof z.ZodObject ? Object.keys(query.shape) : []
  return belongsTo === 'organization' ? [...own, 'orgId'] : own
}

/** The error for at least one ignored parameter. */
export function unknownParameters(ignored: readonly string[], route: QueryReader): NotifierError {
  const expected = knownParameters(route)
  const note = (name: string): string => {
    const nearest = nearestName(name, expected)
    return nearest === null ? '' : `, did you mean "${nearest}"?`
  }
  const only = ignored.length === 1 ? note(ignored[0] ?? '') : ''
  const names = ignored.slice(0, MOST_NAMES).map(shortName)
  return new NotifierError('invalid_parameter', {
    message:
      `Unknown query ${ignored.length === 1 ? 'parameter' : 'parameters'}: ${listedNames(ignored)}${only || '.'} ` +
      `This operation accepts ${expected.length === 0 ? 'none' : expected.join(', ')}.`,
    details: { field: names[0], fields: names, expected },
  })
}

/** Value of X-Ignored-Parameters: at most ten names, percent-encoded and shortened. */
export function ignoredHeader(ignored: readonly string[]): string {
  return ignored
    .slice(0, MOST_NAMES)
    .map((name) => encodeURIComponent(name).slice(0, 50).replace(/%.?$/, ''))
    .join(', ')
}
