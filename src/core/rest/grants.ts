import type { Grant } from '../access/permissions.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { Query } from './query.ts'
import type { Route } from './route.ts'

/** The grants that a request requires. */
export function requiredGrants(
  { grants = [], queryGrants = {} }: Pick<Route, 'grants' | 'queryGrants'>,
  query: Query,
): Grant[] {
  const asked = Object.entries(queryGrants).filter(([parameter]) => query[parameter] === 'true')
  return [...grants, ...asked.map(([, grant]) => grant)]
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
