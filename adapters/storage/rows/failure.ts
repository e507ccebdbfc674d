import type { NotificationFailure } from '../../../src/core/notification/notification.ts'
import type { Failure } from '../../../src/core/ports/storage/notifications.ts'

/** A failed notification without its content. */
export interface FailureRow {
  readonly created_at: number
  readonly seq: number
  readonly channel: string
  readonly provider: string | null
  /** JSON. */
  readonly error: string | null
}

/**
 * Reads a failed notification for statistics.
 *
 * @example
 * const rows = await query<FailureRow>("SELECT * FROM notifications WHERE status = 'failed'")
 * const failures = rows.map(toFailure)
 */
export function toFailure({ channel, provider, error, created_at: createdAt }: FailureRow): Failure {
  const code = error === null ? 'provider_error' : (JSON.parse(error) as NotificationFailure).code
  return { channel, provider, code, createdAt }
}
