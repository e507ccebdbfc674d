import type { ReceiptRequest } from '../../ports/receipts.ts'

/** Whose provider reports. */
export interface ReceiptSource {
  /** Left out: the instance that serves all organizations. */
  readonly organizationId?: string | undefined
  readonly channel: string
  /** The instance's name. */
  readonly provider: string
}

/** A provider's request, as it arrived; see `ReceiptRequest`. */
export interface ReceiptArrival extends Omit<ReceiptRequest, 'url' | 'receivedAt'> {
  /** Path below the mount, and the query with its question mark. */
  readonly target: string
  /** The Host header. */
  readonly host: string | undefined
}

/** What a provider is answered with, with status 200. */
export interface ReceiptReply {
  readonly contentType: string
  readonly body: string
}
