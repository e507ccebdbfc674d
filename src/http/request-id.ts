import { createIdGenerator } from '../domain/ids.ts'

/** A source of request ids, `req_<value>`. */
export function createRequestIds(): () => string {
  const ids = createIdGenerator({
    // Only notification ids hold a time.
    now: () => 0,
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
  })
  return () => ids.random('req')
}
