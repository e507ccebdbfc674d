import type { LimitCheck } from '../../../src/ports/rate-limiter.ts'

/**
 * The part of a key that decides its node in a cluster: all of one organization lie together.
 * Escaped, because Redis takes what is between the first braces, and everything when there is nothing.
 */
export function tagOf(key: string): string {
  const colon = key.indexOf(':')
  const tag = colon === -1 ? key : key.slice(0, colon)
  return tag === '' ? '%' : tag.replaceAll('%', '%25').replaceAll('}', '%7D')
}

/** The name in Redis. A key may be used for one count of every kind. */
export function redisKey(prefix: string, kind: LimitCheck['kind'], key: string): string {
  const colon = key.indexOf(':')
  return `${prefix}${kind}:{${tagOf(key)}}${colon === -1 ? '' : key.slice(colon)}`
}
