import { createSecretKey, type KeyObject } from 'node:crypto'
import { invalidOption } from '../core/errors/invalid-option.ts'

const PREFIX = 'whsec_'
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * The keys of serialized secrets (Standard Webhooks 1.0.0: `whsec_` and base64; the prefix is optional). As key
 * objects: with a Buffer each signature would create one, which takes five times as long as signing.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function keysOf(secrets: string | readonly string[]): KeyObject[] {
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
