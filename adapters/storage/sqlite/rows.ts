import type { NotificationStatus } from '../../../src/core/notification/notification.ts'
import type { LabelColumns } from '../rows/labels.ts'

/** A stored notification without its content. */
export interface NotificationRow extends LabelColumns {
  readonly seq: number
  readonly id: string
  readonly organization: string
  readonly channel: string
  readonly recipient: string
  readonly created_at: number
  readonly send_at: number | null
  status: NotificationStatus | null
  sequence: number
  published: number
  fold: string | null
  provider: string | null
  provider_message_id: string | null
  error: string | null
  readonly trace: string | null
}
