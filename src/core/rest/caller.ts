import type { Grant, Permission } from '../access/permissions.ts'
import type { Counted } from '../limits/model.ts'

/** The caller of a request: an API key, an operator key, or a dashboard user. */
export interface Caller {
  readonly id: string
  readonly permission: Permission
  readonly grants: readonly Grant[]
  /** Organizations that the caller may name. `all`: an operator. */
  readonly organizations: 'all' | readonly string[]
  /** Name of the key. A user whom the application signs in has none. */
  readonly name?: string
  /** True: a person on the dashboard. */
  readonly session?: true
  /** Whose limits the requests count against. */
  readonly counted: Counted
}
