import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../src/core/ports/receipts.ts'

/** When the requests of the tests arrive. */
export const NOW: number = Date.UTC(2026, 10, 21, 12)

/** A request of a provider. */
export function receiptRequest(
  body: unknown,
  headers: ReceiptRequest['headers'] = {},
  more: Partial<ReceiptRequest> = {},
): ReceiptRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    method: 'POST',
    url: 'https://app.example.org/receipts/email/provider',
    headers: { 'content-type': 'application/json', ...headers },
    body: new TextEncoder().encode(text),
    receivedAt: NOW,
    ...more,
  }
}

/** The receipts of a request that must have been believed. */
export function believed(parsed: ParsedReceipts): readonly Receipt[] {
  if (parsed.kind !== 'receipts') throw new Error(`refused: ${parsed.message}`)
  return parsed.receipts
}
