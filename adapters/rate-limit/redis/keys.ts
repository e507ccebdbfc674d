import type { LimitCheck } from '../../../src/core/ports/rate-limiter.ts'

/**
 * The part of a key that selects its cluster node: all keys of one organization share a node. Escaped, because Redis
 * hashes the text between the first braces, or the whole key if that text is empty.
 */
export function tagOf(key: string): string {
  const colon = key.indexOf(':')
  const tag = colon === -1 ? key : key.slice(0, colon)
  return tag === '' ? '%' : tag.replaceAll('%', '%25').replaceAll('}', '%7D')
}

/** The Redis key. One limit key can serve one count of each kind. */
export function redisKey(prefix: string, kind: LimitCheck['kind'], key: string): string {
  const colon = key.indexOf(':')
  return `${prefix}${kind}:{${tagOf(key)}}${colon === -1 ? '' : key.slice(colon)}`
}
