import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import type { RenderedMessage } from '../render.ts'

/** The response to a send. */
export interface SentNotification {
  /** `notif_<digits>` */
  readonly id: string
  readonly status: 'queued' | 'scheduled'
  readonly channel: string
  /** Recipient as sent. */
  readonly to: string
  /** ISO 8601 UTC. */
  readonly createdAt: string
  /** True: an earlier request with the same idempotency key made it. */
  readonly replayed: boolean
}

export interface ValidatedSend {
  readonly channel: string
  readonly to: string
  /** The message as it would be sent. */
  readonly rendered: RenderedMessage
}

export interface BatchResult {
  readonly accepted: number
  readonly rejected: number
  /** One per message, in order. */
  readonly items: readonly BatchItem[]
  readonly createdAt: string
  readonly replayed: boolean
}

export type BatchItem =
  | { readonly index: number; readonly id: string; readonly status: 'queued' | 'scheduled' }
  | { readonly index: number; readonly error: ItemError }

export interface ItemError {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}
