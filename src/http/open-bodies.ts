import { NotifierError } from '../domain/errors/notifier-error.ts'
import { limitError } from '../services/limits/limit-error.ts'
import { networkOf } from '../services/limits/network.ts'
import type { Admissions, BodyOwner } from '../services/service.ts'
import type { BodyLimits, HttpRequest } from './message.ts'

/** Most unfinished bodies of one client address (IPv6: one /64). */
const MOST_PER_ADDRESS = 16
/** Most bytes of a share: all unfinished bodies of requests with a key, or all of those without one. */
const MOST_BYTES = 64 * 1024 * 1024
/** What an unfinished body costs before any of it arrives: its socket and its request. */
const COST = 4_096
const RETRY_MS = 1_000

/**
 * Bounds the unfinished files, forms and receipts, which could otherwise exhaust memory. Requests with a key and those
 * without one have separate shares.
 */
export interface OpenBodies {
  /**
   * Reads a body. Where a share is full, the owner that has held most of it for longest loses its oldest body, with
   * `service_unavailable`. The refusal counts against that owner.
   *
   * @param owner the organization, or the client's address without a key
   * @param read reads the body within the given limits
   * @throws NotifierError `rate_limit_exceeded` for too many bodies of one address, or after too many refusals, and the
   *   errors of `read`
   */
  read(
    request: HttpRequest,
    owner: BodyOwner,
    limits: BodyLimits,
    read: (limits: BodyLimits) => Promise<Uint8Array>,
  ): Promise<Uint8Array>
}

export function createOpenBodies(
  limits: Pick<Admissions, 'admitBody' | 'countRefusedBody' | 'closed'>,
): OpenBodies {
  const withKey = createShare(Number.POSITIVE_INFINITY)
  const withoutKey = createShare(MOST_PER_ADDRESS)

  return {
    async read(request, owner, bounds, read) {
      if (request.bodyComplete) return read(bounds)
      const hasKey = 'organizationId' in owner
      if (!hasKey) await limits.admitBody(owner.address)
      const body = hasKey ? withKey.open(owner.organizationId) : withoutKey.open(networkOf(owner.address))
      if (body === null) {
        await limits.countRefusedBody(owner)
        const state = { ...limits.closed(RETRY_MS), resource: 'open_bodies', limit: MOST_PER_ADDRESS }
        throw limitError(state, RETRY_MS)
      }
      try {
        return await read({ ...bounds, watch: body.watch })
      } catch (error) {
        if (body.isRefused()) await limits.countRefusedBody(owner)
        throw error
      } finally {
        body.close()
      }
    },
  }
}

interface Held {
  bytes: number
  /** Sum over all bytes of the time of their arrival. */
  arrivals: number
}

interface Owner extends Held {
  /** Oldest first. */
  readonly bodies: Set<OpenBody>
}

interface OpenBody extends Held {
  /** Null: it is not being read. */
  end: ((error: NotifierError) => void) | null
  refused: boolean
}

interface Opened {
  readonly watch: NonNullable<BodyLimits['watch']>
  isRefused(): boolean
  close(): void
}

/** @param mostBodies most bodies of one owner */
function createShare(mostBodies: number): { open(name: string): Opened | null } {
  const owners = new Map<string, Owner>()
  let held = 0
  /** Counts arrivals in place of time: it stands still where nothing presses. */
  let now = 0

  function hold(owner: Owner, body: OpenBody, bytes: number): void {
    now += 1
    for (const holder of [owner, body]) {
      holder.bytes += bytes
      holder.arrivals += bytes * now
    }
    held += bytes
    while (held > MOST_BYTES) refuseHeaviest()
  }

  /** Weighs bytes by the time for which they are held, so that a large body that arrives at once outlives small idle ones. */
  function refuseHeaviest(): void {
    let heaviest: readonly [name: string, owner: Owner] | null = null
    let most = -1
    for (const entry of owners) {
      const weight = entry[1].bytes * now - entry[1].arrivals
      if (weight <= most) continue
      heaviest = entry
      most = weight
    }
    if (heaviest === null) return
    const [name, owner] = heaviest
    const [oldest] = owner.bodies
    if (oldest === undefined) return
    oldest.refused = true
    remove(name, owner, oldest)
    oldest.end?.(new NotifierError('service_unavailable', { retryAfterMs: RETRY_MS }))
  }

  function remove(name: string, owner: Owner, body: OpenBody): void {
    if (!owner.bodies.delete(body)) return
    owner.bytes -= body.bytes
    owner.arrivals -= body.arrivals
    held -= body.bytes
    if (owner.bodies.size === 0) owners.delete(name)
  }

  return {
    open(name) {
      const owner = owners.get(name) ?? { bytes: 0, arrivals: 0, bodies: new Set() }
      if (owner.bodies.size >= mostBodies) return null
      owners.set(name, owner)
      const body: OpenBody = { bytes: 0, arrivals: 0, end: null, refused: false }
      owner.bodies.add(body)
      hold(owner, body, COST)
      return {
        watch(end) {
          body.end = end
          return (bytes) => {
            if (!body.refused) hold(owner, body, bytes)
          }
        },
        isRefused: () => body.refused,
        close: () => remove(name, owner, body),
      }
    },
  }
}
