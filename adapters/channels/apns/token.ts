import { type KeyObject, sign } from 'node:crypto'

/** The token that APNs knows a provider by: signed here, valid for an hour. */
export interface ProviderToken {
  /** The token to use now. */
  current(): string
  /**
   * Takes note that APNs called a token expired.
   *
   * @returns true when the next one will be another
   */
  expired(token: string): boolean
}

export interface ProviderTokenOptions {
  readonly key: KeyObject
  readonly keyId: string
  readonly teamId: string
}

const MINUTE = 60_000
/** APNs refuses tokens that are older than an hour. */
const OLDEST_MS = 50 * MINUTE
/** APNs refuses tokens that are made more often than every 20 minutes. */
const YOUNGEST_MS = 20 * MINUTE

/** @param now epoch milliseconds */
export function providerToken(
  { key, keyId, teamId }: ProviderTokenOptions,
  now: () => number = Date.now,
): ProviderToken {
  let token = ''
  let madeAt = Number.NEGATIVE_INFINITY
  // A negative age: the clock was set back, and the token is from the future.
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
      // Another request that met the same answer has renewed it already.
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
