import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { NotifierError } from '../errors/notifier-error.ts'

/** Signs the content of links, so that only links from here are valid. A token is valid for one purpose only. */
export interface LinkSigner {
  /** Returns a URL-safe token. Its payload is readable. */
  sign(purpose: string, payload: string): string
  /** Returns the payload. Null: not signed here for this purpose. */
  verify(purpose: string, token: string): string | null
}

/** Half of SHA-256's output, the minimum of RFC 2104 section 5: mails wrap long links. */
const MAC_BYTES = 16
const TOKEN = /^([\w-]+)\.([\w-]{22})$/

/**
 * HMAC-SHA256 with a key derived for links only. The first secret signs; all verify, so that links in mails survive a
 * rotation.
 */
export function createLinkSigner(secrets: readonly string[]): LinkSigner {
  const keys = secrets.map(keyFor)
  const [newest] = keys
  if (newest === undefined)
    throw new NotifierError('invalid_configuration', { message: 'At least one secret is needed.' })
  const mac = (key: KeyObject, purpose: string, body: string): Buffer =>
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

/** A key object: with a Buffer, each signature would create one, which takes five times as long as signing. */
function keyFor(secret: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'carillon/links', 32)))
}
