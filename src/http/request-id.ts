import { createIdGenerator } from '../core/records/ids.ts'

/** Creates a source of request ids (`req_…`). */
export function createRequestIds(): () => string {
  const ids = createIdGenerator({
    // Request ids carry no time.
    now: () => 0,
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
  })
  return () => ids.random('req')
}
