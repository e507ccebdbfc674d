import type { Fact } from '../domain/facts.ts'
import type { SuppressionReason } from '../domain/suppression.ts'

/** One request of a provider, as it arrived. */
export interface ReceiptRequest {
  readonly method: string
  /** The address that the provider called, as the public sees it, query included: some providers sign it. */
  readonly url: string
  /** Lower-case names; of a repeated header the values joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The bytes, untouched: what signatures are made over. */
  readonly body: Uint8Array
  /** When it arrived; epoch milliseconds. Judges the age of signed timestamps. */
  readonly receivedAt: number
}

/** What `Channel.parseReceipts` made of a request. */
export type ParsedReceipts =
  | {
      readonly kind: 'receipts'
      /** In order; none for what needs nothing recorded (a confirmed subscription, a test of the address). */
      readonly receipts: readonly Receipt[]
      /** What to answer once they are stored. Default: 200 with an empty body. */
      readonly answer?:
        | { readonly status?: number; readonly contentType?: string; readonly body?: string }
        | undefined
    }
  /** Not proven to come from the provider, or unreadable: nothing is recorded, the answer is 401, or 400 for `malformed`. */
  | { readonly kind: 'refused'; readonly why: 'signature' | 'malformed'; readonly message: string }

/** One report about one message or one recipient. */
export interface Receipt {
  /** The same for every repetition of this report, unique among the provider's. At most 255 characters. */
  readonly dedupeKey: string
  /** Our id, where the message carried it. */
  readonly notificationId?: string | undefined
  /**
   * What happened to a message; `providerMessageId` correlates it where our id is unknown. Its `provider` is filled in.
   * Absent for what concerns a recipient alone (a STOP reply).
   */
  readonly fact?: Omit<Fact, 'provider'> | undefined
  /** The recipient wants, or can take, nothing more. Only for hard bounces, complaints and opt-outs. */
  readonly suppress?: { readonly address: string; readonly reason: SuppressionReason } | undefined
  /** The recipient opted in again (START). */
  readonly unsuppress?: { readonly address: string } | undefined
}
