import type { Grant } from '../access/permissions.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { Query } from './query.ts'
import type { Route } from './route.ts'

/** The grants that a query requires. */
export function requiredGrants({ queryGrants = {} }: Pick<Route, 'queryGrants'>, query: Query): Grant[] {
  return Object.entries(queryGrants).flatMap(([parameter, grant]) =>
    query[parameter] === 'true' ? [grant] : [],
  )
}

/**
 * A key can use only its own grants, and give only those to other keys.
 *
 * @throws NotifierError `insufficient_permissions`
 */
export function assertGranted(needed: readonly Grant[], granted: readonly Grant[]): void {
  const required = needed.find((grant) => !granted.includes(grant))
  if (required === undefined) return
  throw new NotifierError('insufficient_permissions', {
    message: `The API key lacks the grant "${required}". Use a key that was created with it.`,
    details: { required, granted },
  })
}
