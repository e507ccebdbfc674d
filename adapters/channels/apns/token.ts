import { type KeyObject, sign } from 'node:crypto'

/** A signed provider token for APNs, valid for one hour. */
export interface ProviderToken {
  /** The current token. */
  current(): string
  /**
   * Records that APNs considers a token expired.
   *
   * @returns true if the next token will be a new one
   */
  expired(token: string): boolean
}

export interface ProviderTokenOptions {
  readonly key: KeyObject
  readonly keyId: string
  readonly teamId: string
}

const MINUTE = 60_000
/** APNs refuses tokens older than an hour. */
const OLDEST_MS = 50 * MINUTE
/** APNs refuses new tokens more often than every 20 minutes. */
const YOUNGEST_MS = 20 * MINUTE

/** @param now epoch milliseconds */
export function providerToken(
  { key, keyId, teamId }: ProviderTokenOptions,
  now: () => number = Date.now,
): ProviderToken {
  let token = ''
  let madeAt = Number.NEGATIVE_INFINITY
  // A negative age means that the clock was set back.
  const isOlderThan = (ageMs: number): boolean => now() - madeAt >= ageMs || now() < madeAt

  return {
    current() {
      if (isOlderThan(OLDEST_MS)) {
        madeAt = now()
        token = jwt({ alg: 'ES256', kid: keyId }, { iss: teamId, iat: Math.floor(madeAt / 1000) }, key)
      }
      return token
    },
    expired(refused) {
      // Another request with the same answer has already renewed it.
      if (refused !== token) return true
      if (!isOlderThan(YOUNGEST_MS)) return false
      madeAt = Number.NEGATIVE_INFINITY
      return true
    },
  }
}

function jwt(header: object, claims: object, key: KeyObject): string {
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}
