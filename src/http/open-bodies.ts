import { NotifierError } from '../domain/errors/notifier-error.ts'
import { limitError } from '../services/limits/limit-error.ts'
import { networkOf } from '../services/limits/network.ts'
import type { Admissions } from '../services/service.ts'
import type { BodyLimits, HttpRequest } from './message.ts'

/** Most unfinished bodies of one client address (IPv6: one /64). */
const MOST_PER_ADDRESS = 16
/** Most bytes of all unfinished bodies together. */
const MOST_BYTES = 64 * 1024 * 1024
const RETRY_MS = 1_000

interface OpenBody {
  /** Bytes that have arrived. */
  bytes: number
  readonly end: (error: NotifierError) => void
}

/** Bounds the unfinished bodies of requests without a key, which could otherwise exhaust memory. */
export interface OpenBodies {
  /**
   * Reads a body. If all bodies together hold too many bytes, the oldest ends with `service_unavailable`.
   *
   * @param read reads the body within the given limits
   * @throws NotifierError `rate_limit_exceeded` for too many bodies of one address, and the errors of `read`
   */
  read(
    request: HttpRequest,
    address: string,
    limits: BodyLimits,
    read: (limits: BodyLimits) => Promise<Uint8Array>,
  ): Promise<Uint8Array>
}

export function createOpenBodies(limits: Pick<Admissions, 'closed'>): OpenBodies {
  const open = new Map<string, number>()
  /** Oldest first. */
  const bodies = new Set<OpenBody>()
  let held = 0

  function remove(body: OpenBody): void {
    if (bodies.delete(body)) held -= body.bytes
  }

  function arrived(body: OpenBody, bytes: number): void {
    if (!bodies.has(body)) return
    body.bytes += bytes
    held += bytes
    for (const oldest of bodies) {
      if (held <= MOST_BYTES) return
      remove(oldest)
      oldest.end(new NotifierError('service_unavailable', { retryAfterMs: RETRY_MS }))
    }
  }

  function enter(network: string): void {
    const others = open.get(network) ?? 0
    if (others >= MOST_PER_ADDRESS) {
      const state = { ...limits.closed(RETRY_MS), resource: 'open_bodies', limit: MOST_PER_ADDRESS }
      throw limitError(state, RETRY_MS)
    }
    open.set(network, others + 1)
  }

  function leave(network: string): void {
    const left = (open.get(network) ?? 1) - 1
    if (left === 0) open.delete(network)
    else open.set(network, left)
  }

  return {
    async read(request, address, bounds, read) {
      if (request.bodyComplete) return read(bounds)
      const network = networkOf(address)
      enter(network)
      let body: OpenBody | undefined
      const watch: BodyLimits['watch'] = (end) => {
        const watched = { bytes: 0, end }
        body = watched
        bodies.add(watched)
        return (bytes) => arrived(watched, bytes)
      }
      try {
        return await read({ ...bounds, watch })
      } finally {
        if (body !== undefined) remove(body)
        leave(network)
      }
    },
  }
}
