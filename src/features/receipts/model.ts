import type { ReceiptRequest } from '../../core/ports/receipts.ts'

/** The provider of a report. */
export interface ReceiptSource {
  /** Absent: the shared instance. */
  readonly organizationId?: string | undefined
  readonly channel: string
  /** The instance's name. */
  readonly provider: string
}

/** A provider's request; see `ReceiptRequest`. */
export interface ReceiptArrival extends Omit<ReceiptRequest, 'url' | 'receivedAt'> {
  /** Path below the mount, with the query. */
  readonly target: string
  /** The Host header. */
  readonly host: string | undefined
}

/** The answer to a provider, with status 200. */
export interface ReceiptReply {
  readonly contentType: string
  readonly body: string
}
