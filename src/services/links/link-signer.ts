import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { NotifierError } from '../../domain/errors/notifier-error.ts'

/** What a link in a message is for: a token for one purpose is none for another. */
export type LinkPurpose = 'unsubscribe' | 'open' | 'click' | 'session' | 'sign-in'

/** Signs what links in messages carry, so that a link means something only if it comes from here. */
export interface LinkSigner {
  /** A token that is safe in a URL. Whoever has it can read what it carries. */
  sign(purpose: LinkPurpose, payload: string): string
  /** What a token carries; null when it was not made here for this purpose. */
  verify(purpose: LinkPurpose, token: string): string | null
}

/** Half of SHA-256's output: RFC 2104 5 allows no less, and mails wrap long links. */
const MAC_BYTES = 16
const TOKEN = /^([\w-]+)\.([\w-]{22})$/

/**
 * HMAC-SHA256 under a key derived for links alone. The first secret signs; older ones still verify, so that the links in
 * mails outlive a rotation.
 */
export function createLinkSigner(secrets: readonly string[]): LinkSigner {
  const keys = secrets.map(keyFor)
  const [newest] = keys
  if (newest === undefined)
    throw new NotifierError('invalid_configuration', { message: 'At least one secret is needed.' })
  const mac = (key: KeyObject, purpose: LinkPurpose, body: string): Buffer =>
    createHmac('sha256', key).update(`${purpose}\n${body}`).digest().subarray(0, MAC_BYTES)
  return {
    sign(purpose, payload) {
      const body = Buffer.from(payload).toString('base64url')
      return `${body}.${mac(newest, purpose, body).toString('base64url')}`
    },
    verify(purpose, token) {
      const [, body, given] = TOKEN.exec(token) ?? []
      if (body === undefined || given === undefined) return null
      const bytes = Buffer.from(given, 'base64url')
      const valid = keys.some((key) => timingSafeEqual(mac(key, purpose, body), bytes))
      return valid ? Buffer.from(body, 'base64url').toString() : null
    },
  }
}

/** A key object: a Buffer is made one for each signature, which takes five times as long as the signature itself. */
function keyFor(secret: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'carillon/links', 32)))
}
