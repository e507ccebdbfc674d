import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { invalidOption } from '../core/errors/invalid-option.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import { assertOptionNames, FUNCTION, type OptionNames } from '../core/errors/option-names.ts'
import type { WebhookDelivery, WebhookEvent } from './event.ts'
import { invalidSignature, type SignatureHeaders, signatureHeaders, type WebhookHeaders } from './headers.ts'

const PREFIX = 'whsec_'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * The keys of serialized secrets (Standard Webhooks 1.0.0: `whsec_` and base64; the prefix is optional). As key
 * objects: with a Buffer each signature would create one, which takes five times as long as signing.
 *
 * @throws NotifierError `invalid_configuration`
 */
function keysOf(secrets: string | readonly string[]): KeyObject[] {
  const list = typeof secrets === 'string' ? [secrets] : secrets
  if (!Array.isArray(list) || list.length === 0) throw invalidSecret()
  return list.map(keyOf)
}

function keyOf(secret: unknown): KeyObject {
  if (typeof secret !== 'string') throw invalidSecret()
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  // A single character beyond a multiple of four encodes no byte: the secret was cut when it was copied.
  const cut = text.replace(/=+$/, '').length % 4 === 1
  if (text.length < 4 || !BASE64.test(text) || cut) throw invalidSecret()
  return createSecretKey(text, 'base64')
}

function invalidSecret(): Error {
  return invalidOption(
    'secret',
    'The webhook secret must be the text that the service showed when the endpoint was created: "whsec_" and base64. ' +
      'During a rotation, pass an array of both.',
  )
}

/** Options of {@link verifyWebhook}. */
export interface VerifyOptions {
  /**
   * Maximum difference of `webhook-timestamp` from now, in both directions, in milliseconds. @default 300_000 (5 min)
   */
  readonly toleranceMs?: number | undefined
  /** Returns the time in epoch milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined
}

export const VERIFY_OPTIONS: OptionNames<VerifyOptions> = {
  toleranceMs: {
    expected: 'a number of milliseconds, at least 0',
    holds: (value) => typeof value === 'number' && value >= 0,
  },
  now: FUNCTION,
}

/** A verified webhook. */
export interface Verified extends WebhookDelivery {
  readonly event: WebhookEvent
}

const TOLERANCE_MS = 5 * 60_000

/** Signatures per request: usually one, more during a rotation. Strangers can send thousands in one header. */
const MAX_SIGNATURES = 10
/** Length of 32 bytes in base64. */
const DIGEST_LENGTH = 44

/**
 * Verifies a webhook by Standard Webhooks 1.0.0, scheme `v1`, and returns its event.
 *
 * @param rawBody the raw body, before any parser
 * @param secret the endpoint's signing secret; during a rotation several, of which one must match
 * @throws NotifierError `invalid_webhook_signature` if a header is missing or no signature matches
 * @throws NotifierError `webhook_timestamp_out_of_range` if the timestamp is too old or too far in the future
 * @throws NotifierError `invalid_json` if the signature matches but the body contains no event
 * @throws NotifierError `invalid_configuration` for a wrong secret or option, or an already parsed body
 *
 * @example
 * const event = verifyWebhook(rawBody, request.headers, secret)
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): WebhookEvent {
  assertOptionNames('verifyWebhook', options, VERIFY_OPTIONS)
  if (typeof headers !== 'object' || headers === null)
    throw invalidOption('headers', 'verifyWebhook: the second argument must be the headers of the request.')
  return createVerifier(secret, options)(rawBody, headers).event
}

/**
 * {@link verifyWebhook} for many webhooks, with checked options.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function createVerifier(
  secret: string | readonly string[],
  { toleranceMs = TOLERANCE_MS, now = Date.now }: VerifyOptions,
): (rawBody: string | Uint8Array, headers: WebhookHeaders) => Verified {
  const keys = keysOf(secret)
  return function verify(rawBody, headers) {
    if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) throw alreadyParsed()
    const given = signatureHeaders(headers)
    const seconds = timestampWithin(given.timestamp, toleranceMs, now())
    if (!isSigned(given, seconds, rawBody, keys)) {
      throw invalidSignature('No signature of the webhook matches this secret and body.')
    }
    return { event: parseEvent(rawBody), id: given.id, timestamp: new Date(seconds * 1000) }
  }
}

function timestampWithin(text: string, toleranceMs: number, now: number): number {
  // Parsed as in the reference library. The signature covers this number, so text after it has no effect.
  const seconds = Number.parseInt(text, 10)
  if (Number.isNaN(seconds)) throw invalidSignature('The header webhook-timestamp is not a number.')
  const off = Math.floor(now / 1000) - seconds
  if (Math.abs(off) * 1000 > toleranceMs) {
    throw new NotifierError('webhook_timestamp_out_of_range', { details: { offBySeconds: off } })
  }
  return seconds
}

function isSigned(
  { id, signature }: SignatureHeaders,
  seconds: number,
  body: string | Uint8Array,
  keys: readonly KeyObject[],
): boolean {
  const given = signature
    .split(' ')
    .map((each) => each.split(','))
    .filter(([version]) => version === 'v1')
    .map(([, text = '']) => Buffer.from(text))
    .filter(({ length }) => length === DIGEST_LENGTH)
    .slice(0, MAX_SIGNATURES)
  return keys.some((key) => {
    const digest = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')
    const expected = Buffer.from(digest)
    return given.some((each) => timingSafeEqual(each, expected))
  })
}

function parseEvent(body: string | Uint8Array): WebhookEvent {
  const message = 'The signature is valid, but the body contains no event.'
  let parsed: unknown
  try {
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', UNCHANGED).decode(body)
    parsed = JSON.parse(text)
  } catch (cause) {
    throw new NotifierError('invalid_json', { message, cause })
  }
  if (!isEvent(parsed)) throw new NotifierError('invalid_json', { message })
  return parsed
}

const UNCHANGED = { fatal: true, ignoreBOM: true } as const

/** Checks only what identifies an event: later versions may add fields and types. */
function isEvent(value: unknown): value is WebhookEvent {
  if (typeof value !== 'object' || value === null) return false
  const { event, data } = value as { event?: unknown; data?: unknown }
  return typeof event === 'string' && typeof data === 'object' && data !== null
}

function alreadyParsed(): NotifierError {
  return invalidOption(
    'rawBody',
    'The signature covers the raw body: pass its bytes or text, before any parser.',
  )
}
