import type { SentBy } from '../../core/accept/refused.ts'
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import type { ListQuery } from '../../core/records/list.ts'

/** A message that was refused, so that no notification tells of it. Equal ones are one. */
export interface Refusal {
  /** When the latest was refused: ISO 8601 UTC. */
  readonly at: string
  /** When the first was refused: ISO 8601 UTC. */
  readonly firstAt: string
  /** How many were refused. */
  readonly count: number
  readonly code: ErrorCode
  readonly message: string
  /** What needs a change. Null: no field of the message. */
  readonly field: string | null
  /** Null: refused before it was known, such as that of a template. */
  readonly channel: string | null
  /** Its first 1,000 characters. Null: it named none, or none that its channel takes. */
  readonly to: string | null
  /** The application's id of the person. Null: it named none. */
  readonly recipient: string | null
  /** Id or name of the template. Null: it named none. */
  readonly template: string | null
  /** The key, or the person on the dashboard. Null: code. */
  readonly sentBy: SentBy | null
}

export interface RefusalQuery extends ListQuery {
  /** Refusals before the channel was known match, too. */
  readonly channel?: string | undefined
  /** The address, in any spelling that its channel knows. */
  readonly to?: string | undefined
  readonly recipient?: string | undefined
  readonly code?: ErrorCode | undefined
}
