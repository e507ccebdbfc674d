import type { Receipt } from '../domain/receipt.ts'

export type { Receipt } from '../domain/receipt.ts'

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

/** The answer, a 200, to a provider that asks before it reports. */
export interface ConfirmedReceipts {
  readonly contentType: string
  readonly body: string
}

/** What `Provider.parseReceipts` made of a request. */
export type ParsedReceipts =
  | {
      readonly kind: 'receipts'
      /** In order; none for what needs nothing recorded (a confirmed subscription, a test of the address). */
      readonly receipts: readonly Receipt[]
      /** The body of the answer, a 200, once they are stored. Default: empty. */
      readonly answer?: { readonly contentType: string; readonly body: string } | undefined
    }
  /** It cannot be verified right now (a certificate cannot be fetched): the answer is 503, and the provider repeats it. */
  | { readonly kind: 'later'; readonly message: string }
  /** Not proven to come from the provider, or unreadable: nothing is recorded, the answer is 401, or 400 for `malformed`. */
  | { readonly kind: 'refused'; readonly why: 'signature' | 'malformed'; readonly message: string }
