import { permits } from '../core/access/api-key.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import type { Caller } from '../core/rest/caller.ts'
import type { Match, RouteMatch } from './router.ts'

/** @throws NotifierError `not_found`, `method_not_allowed`, `operator_key_required`, `insufficient_permissions` */
export function permittedRoute(match: Match, { permission: granted, organizations }: Caller): RouteMatch {
  if (match.kind === 'unknown') throw new NotifierError('not_found')
  if (match.kind === 'method')
    throw new NotifierError('method_not_allowed', { details: { allow: match.allow } })
  const { permission: required, belongsTo } = match.route
  if (belongsTo === 'operator' && organizations !== 'all') throw new NotifierError('operator_key_required')
  if (required !== 'public' && !permits(granted, required)) {
    throw new NotifierError('insufficient_permissions', { details: { required, granted } })
  }
  return match
}
