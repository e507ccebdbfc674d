import { NotifierError } from '../domain/errors/notifier-error.ts'
import { limitError } from '../services/limits/limit-error.ts'
import { networkOf } from '../services/limits/network.ts'
import type { Notifier } from '../services/notifier.ts'
import type { BodyLimits, HttpRequest } from './message.ts'

/** Unfinished bodies of one client address, of IPv6 its first 64 bits. */
const MOST_PER_ADDRESS = 16
/** Bytes that all unfinished bodies together may hold. */
const MOST_BYTES = 64 * 1024 * 1024
const RETRY_MS = 1_000
const nothing = (): void => {}

/** Bounds the unfinished bodies of requests without a key, which would fill the memory otherwise. */
export interface OpenBodies {
  /**
   * Counts a body that is about to be read.
   *
   * @returns to be called when it has been read, or never will be
   * @throws NotifierError `rate_limit_exceeded` for too many of one address, `service_unavailable` for too many in all
   */
  enter(request: HttpRequest, address: string, limits: BodyLimits): () => void
}

export function createOpenBodies(limits: Pick<Notifier['limits'], 'closed'>): OpenBodies {
  const open = new Map<string, number>()
  let held = 0

  return {
    enter(request, address, { bytes: most }) {
      if (request.bodyComplete) return nothing
      const network = networkOf(address)
      const others = open.get(network) ?? 0
      if (others >= MOST_PER_ADDRESS) {
        const state = { ...limits.closed(RETRY_MS), resource: 'open_bodies', limit: MOST_PER_ADDRESS }
        throw limitError(state, RETRY_MS)
      }
      // Without a declared length it may become as large as the limit.
      const bytes = Math.min(most, Number(request.header('content-length') ?? most) || 0)
      if (held + bytes > MOST_BYTES) {
        throw new NotifierError('service_unavailable', { retryAfterMs: RETRY_MS })
      }
      open.set(network, others + 1)
      held += bytes
      return () => {
        held -= bytes
        const left = (open.get(network) ?? 1) - 1
        if (left === 0) open.delete(network)
        else open.set(network, left)
      }
    },
  }
}
