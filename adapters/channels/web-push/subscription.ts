/** A browser's push subscription in the form of its `toJSON()` (W3C Push API). */
export interface PushSubscription {
  /** Address at the browser's push service. */
  readonly endpoint: string
  readonly keys: {
    /** The browser's public key on P-256, uncompressed, base64url. */
    readonly p256dh: string
    /** 16 random bytes, base64url. */
    readonly auth: string
  }
}

const PUBLIC_KEY_BYTES = 65
const AUTH_BYTES = 16

/** Parses a recipient. Null: not a subscription. Other members (`expirationTime`) are dropped. */
export function parseSubscription(to: string): PushSubscription | null {
  if (!to.startsWith('{')) return null
  try {
    const { endpoint, keys } = Object(JSON.parse(to)) as Readonly<Record<string, unknown>>
    const { p256dh, auth } = Object(keys) as Readonly<Record<string, unknown>>
    if (typeof endpoint !== 'string' || typeof p256dh !== 'string' || typeof auth !== 'string') return null
    const publicKey = bytesOf(p256dh)
    const isSound =
      // 4 marks an uncompressed point.
      publicKey?.length === PUBLIC_KEY_BYTES && publicKey[0] === 4 && bytesOf(auth)?.length === AUTH_BYTES
    return isSound ? { endpoint, keys: { p256dh, auth } } : null
  } catch {
    return null
  }
}

function bytesOf(text: string): Buffer | null {
  return /^[\w-]+=*$/.test(text) ? Buffer.from(text, 'base64url') : null
}
