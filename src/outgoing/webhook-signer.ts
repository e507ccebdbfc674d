import { createHmac, type Hmac, randomBytes } from 'node:crypto'
import type { WebhookSigner } from '../core/ports/signer.ts'

const PREFIX = 'whsec_'
/** Standard Webhooks 1.0.0 requires 24 to 64. */
const SECRET_BYTES = 32
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/

/** Signs by Standard Webhooks 1.0.0, scheme `v1`: base64 of HMAC-SHA256 over `id.timestamp.body` as UTF-8. */
export function webhookSigner(): WebhookSigner {
  return {
    newSecret() {
      return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
    },
    headers(id, timestamp, body, secrets) {
      const content = `${id}.${timestamp}.${body}`
      const signatures = secrets.map(
        (secret) => `v1,${hmac(secret).update(content, 'utf8').digest('base64')}`,
      )
      return {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        ...(signatures.length === 0 ? {} : { 'webhook-signature': signatures.join(' ') }),
      }
    },
  }
}

/** Whether a text is a serialized secret of 24 to 64 bytes. */
export function isWebhookSecret(value: unknown): value is string {
  if (typeof value !== 'string' || !SECRET.test(value)) return false
  const size = keyOf(value).length
  return size >= 24 && size <= 64
}

/** The key as text: a Buffer is converted to a key object first, which takes ten times as long as signing. */
function hmac(secret: string): Hmac {
  return createHmac('sha256', secret.slice(PREFIX.length), { encoding: 'base64' })
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}
