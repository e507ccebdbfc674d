import { createIdGenerator } from '../domain/ids.ts'

const POOL_BYTES = 4096

/** A source of request ids, `req_<value>`. Random bytes are drawn for many at once: one draw each costs more. */
export function createRequestIds(): () => string {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  const ids = createIdGenerator({
    // Only notification ids hold a time.
    now: () => 0,
    randomBytes(size) {
      if (used + size > POOL_BYTES) {
        crypto.getRandomValues(pool)
        used = 0
      }
      used += size
      return pool.subarray(used - size, used)
    },
  })
  return () => ids.random('req')
}
