import type { Receipt } from '../notification/receipt.ts'

export type { Receipt, ReceivedText } from '../notification/receipt.ts'

/** A request of a provider, unchanged. */
export interface ReceiptRequest {
  readonly method: string
  /** The public address that the provider called, with the query: some providers sign it. */
  readonly url: string
  /** Lower-case names. The values of a repeated header are joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The raw bytes, which signatures cover. */
  readonly body: Uint8Array
  /** Time of arrival in epoch milliseconds, to check the age of signed timestamps. */
  readonly receivedAt: number
}

/** The answer (200) to a provider that verifies the address. */
export interface ConfirmedReceipts {
  readonly contentType: string
  readonly body: string
}

/** Result of `Provider.parseReceipts`. */
export type ParsedReceipts =
  | {
      readonly kind: 'receipts'
      /** In order. Empty if there is nothing to record (a confirmed subscription, a test of the address). */
      readonly receipts: readonly Receipt[]
      /** The body of the answer (200) after the receipts are stored. Default: empty. */
      readonly answer?: { readonly contentType: string; readonly body: string } | undefined
    }
  /** Not verifiable now (a certificate cannot be fetched): the answer is 503, and the provider repeats the request. */
  | { readonly kind: 'later'; readonly message: string }
  /** Of unproven origin, or unreadable: nothing is recorded; the answer is 401, or 400 for `malformed`. */
  | { readonly kind: 'refused'; readonly why: 'signature' | 'malformed'; readonly message: string }
