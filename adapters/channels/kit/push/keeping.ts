import type { PushContent } from '../../../../src/core/channels/push.ts'

/**
 * Seconds that a push service may keep a message: its own time to live or the provider's, but not beyond the
 * notification's expiry. 0: try once.
 */
export function keptSeconds(
  push: PushContent | undefined,
  optionSeconds: number,
  expiresInMs: number | null,
): number {
  const seconds = push?.ttlSeconds ?? optionSeconds
  return expiresInMs === null ? seconds : Math.max(0, Math.min(seconds, Math.floor(expiresInMs / 1000)))
}

/** The header `apns-expiration`: Unix seconds. 0 means one try without storage. */
export function apnsExpiration(seconds: number): string {
  return seconds === 0 ? '0' : String(Math.floor(Date.now() / 1000) + seconds)
}
