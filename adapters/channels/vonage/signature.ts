import { createHash, createHmac } from 'node:crypto'
import type { ReceiptRequest } from '../../../src/core/ports/receipts.ts'
import { jsonOf, textMember } from '../kit/http/provider-answer.ts'
import { isFreshSeconds, sameText } from '../kit/http/receipt-request.ts'

/** The console's "signature method": a hash of a text that ends in the secret, or an HMAC. */
export const SIGNATURE_METHODS = ['md5hash', 'md5', 'sha1', 'sha256', 'sha512'] as const
export type SignatureMethod = (typeof SIGNATURE_METHODS)[number]

/** Verification of a report from Vonage. */
export interface SignatureOptions {
  /** The current secret and the previous one. */
  readonly secret: readonly string[]
  /** Undefined: a signature among the fields is no proof. */
  readonly method?: SignatureMethod | undefined
  readonly apiKey: string
}

type Fields = Readonly<Record<string, string>>

/** 25 hours: Vonage repeats a report for a day. */
const MAX_AGE_MS = 90_000_000

/** Why a report is not proven. Null: it is proven. */
export function faultOf(request: ReceiptRequest, fields: Fields, options: SignatureOptions): string | null {
  const bearer = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(request.headers.authorization ?? '')
  if (bearer !== null) return faultOfToken(request, bearer.slice(1), options)
  if (options.method === undefined) return 'The report has no signed token.'
  return faultOfFields(request, fields, options, options.method)
}

/** A JWT with HS256. The algorithm is fixed, so that a key of another kind never serves as the HMAC's key. */
function faultOfToken(
  request: ReceiptRequest,
  parts: readonly string[],
  options: SignatureOptions,
): string | null {
  const [header = '', payload = '', signature = ''] = parts
  if (textMember(decode(header), 'alg') !== 'HS256') return 'The token is not signed by HS256.'
  const expected = (secret: string) =>
    createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
  if (!options.secret.some((secret) => sameText(signature, expected(secret)))) {
    return 'The signature of the token is invalid.'
  }
  const claims = decode(payload)
  const hash = createHash('sha256').update(request.body).digest('hex')
  if (!sameText((textMember(claims, 'payload_hash') ?? '').toLowerCase(), hash)) {
    return 'The token is for another body.'
  }
  const apiKey = textMember(claims, 'api_key')
  if (apiKey !== undefined && apiKey !== options.apiKey) return 'The token is for another account.'
  const signedAt = textMember(claims, 'iat') ?? ''
  return isFreshSeconds(signedAt, request, MAX_AGE_MS) ? null : 'The token was signed too long ago.'
}

/** `sig` over all other fields, sorted. */
function faultOfFields(
  request: ReceiptRequest,
  { sig = '', ...fields }: Fields,
  options: SignatureOptions,
  method: SignatureMethod,
): string | null {
  const text = Object.keys(fields)
    .sort()
    .map((name) => `&${name}=${(fields[name] ?? '').replace(/[&=]/g, '_')}`)
    .join('')
  const expected = (secret: string) =>
    method === 'md5hash'
      ? createHash('md5')
          .update(text + secret, 'utf8')
          .digest('hex')
      : createHmac(method, secret).update(text, 'utf8').digest('hex')
  if (!options.secret.some((secret) => sameText(sig.toLowerCase(), expected(secret)))) {
    return 'The signature of the report is invalid.'
  }
  const signedAt = fields.timestamp ?? ''
  return isFreshSeconds(signedAt, request, MAX_AGE_MS) ? null : 'The report was signed too long ago.'
}

function decode(part: string): unknown {
  return jsonOf(Buffer.from(part, 'base64url').toString('utf8'))
}
