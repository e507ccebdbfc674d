import { createHmac, timingSafeEqual } from 'node:crypto'
import { isErrorCode } from '../../core/errors/catalogue.ts'
import { EVENT_TYPE_OF, type FactType } from '../../core/notification/facts.ts'
import { SUPPRESSION_REASONS, type SuppressionReason } from '../../core/notification/suppression.ts'
import type { ParsedReceipts, Receipt, ReceiptRequest } from '../../core/ports/receipts.ts'
import type { LaterReport } from './recipients.ts'

const SIGNATURE = 'simulator-signature'

/** The subject of a report. */
export interface Reported {
  readonly notificationId: string
  readonly providerMessageId: string
  readonly to: string
}

/** The request of a simulated report. */
export function receiptRequest(
  url: string,
  secret: string,
  about: Reported,
  report: LaterReport,
  now: number,
): ReceiptRequest {
  const id = `${about.providerMessageId}-${report.type}`
  const body = Buffer.from(JSON.stringify({ id, ...about, ...report, occurredAt: now }))
  const headers = { 'content-type': 'application/json', [SIGNATURE]: signatureOf(secret, body) }
  return { method: 'POST', url, headers, body, receivedAt: now }
}

/** Parses such a request as a real provider would. */
export function parseSimulated({ headers, body }: ReceiptRequest, secret: string): ParsedReceipts {
  const [given, expected] = [headers[SIGNATURE] ?? '', signatureOf(secret, body)].map((text) =>
    Buffer.from(text),
  )
  if (given?.length !== expected?.length || !timingSafeEqual(given ?? EMPTY, expected ?? EMPTY)) {
    return { kind: 'refused', why: 'signature', message: 'The signature of the report is wrong.' }
  }
  const receipt = readReceipt(body)
  return receipt === null
    ? { kind: 'refused', why: 'malformed', message: 'The body is no report of the simulator.' }
    : { kind: 'receipts', receipts: [receipt] }
}

const EMPTY = new Uint8Array()

function readReceipt(body: Uint8Array): Receipt | null {
  let report: Partial<Record<string, unknown>>
  try {
    report = Object(JSON.parse(Buffer.from(body).toString('utf8')))
  } catch {
    return null
  }
  const { id, notificationId, providerMessageId, to, type, code, suppress, occurredAt } = report
  if (typeof id !== 'string' || typeof notificationId !== 'string' || typeof to !== 'string') return null
  if (typeof providerMessageId !== 'string') return null
  return {
    dedupeKey: id,
    notificationId,
    fact: {
      type: isFactType(type) ? type : 'reported',
      providerMessageId,
      providerCode: String(type),
      occurredAt: typeof occurredAt === 'number' ? occurredAt : undefined,
      ...(isErrorCode(code) ? { code } : {}),
    },
    suppress: isReason(suppress) ? { address: to, reason: suppress } : undefined,
  }
}

function isFactType(value: unknown): value is FactType {
  return typeof value === 'string' && Object.hasOwn(EVENT_TYPE_OF, value)
}

function isReason(value: unknown): value is SuppressionReason {
  return SUPPRESSION_REASONS.some((reason) => reason === value)
}

function signatureOf(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('base64')
}
