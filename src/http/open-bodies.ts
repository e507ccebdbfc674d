import { NotifierError } from '../core/errors/notifier-error.ts'
import { limitError } from '../core/limits/limit-error.ts'
import type { Admissions, BodyOwner, RateLimitState } from '../core/limits/model.ts'
import { networkOf } from '../core/limits/network.ts'
import type { BodyLimits, HttpRequest } from '../core/rest/message.ts'

/** Most unfinished bodies of one client address (IPv6: one /64). */
const MOST_PER_ADDRESS = 16
/** Maximum number of batches of one organization that are received or processed at once. */
const MOST_BATCHES = 2
/** Batches up to this size are not counted. */
const SMALL_BATCH = 1024 * 1024
/**
 * Most bytes of a share: all unfinished bodies of requests with a key, all of those without one, or all batches until they
 * are answered.
 */
const MOST_BYTES = 64 * 1024 * 1024
/** What an unfinished body costs before any of it arrives: its socket and its request. */
const COST = 4_096
const RETRY_MS = 1_000

/**
 * Bounds the unfinished files, forms and receipts, and the large batches until they are answered, which could otherwise
 * exhaust memory. Requests with a key, those without one, and batches have separate shares.
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
  /**
   * Reads and answers a batch. Where the share is full, a batch that is still arriving is refused as in `read`.
   *
   * @param answer reads the body within the given limits, and answers it
   * @throws NotifierError `rate_limit_exceeded` for too many large batches of the organization, and the errors of `answer`
   */
  answerBatch<Result>(
    request: HttpRequest,
    organizationId: string,
    limits: BodyLimits,
    answer: (limits: BodyLimits) => Promise<Result>,
  ): Promise<Result>
}

export function createOpenBodies(
  limits: Pick<Admissions, 'admitBody' | 'countRefusedBody' | 'closed'>,
): OpenBodies {
  const withKey = createShare(Number.POSITIVE_INFINITY)
  const withoutKey = createShare(MOST_PER_ADDRESS)
  const batches = createShare(MOST_BATCHES)

  /** @param body null: the owner has `limit` bodies */
  async function held<Result>(
    body: Opened | null,
    owner: BodyOwner,
    full: Pick<RateLimitState, 'resource' | 'limit'>,
    use: (body: Opened) => Promise<Result>,
  ): Promise<Result> {
    if (body === null) {
      await limits.countRefusedBody(owner)
      throw limitError({ ...limits.closed(RETRY_MS), ...full }, RETRY_MS)
    }
    try {
      return await use(body)
    } catch (error) {
      if (body.isRefused()) await limits.countRefusedBody(owner)
      throw error
    } finally {
      body.close()
    }
  }

  return {
    async read(request, owner, bounds, read) {
      if (request.bodyComplete) return read(bounds)
      const hasKey = 'organizationId' in owner
      if (!hasKey) await limits.admitBody(owner.address)
      const body = hasKey ? withKey.open(owner.organizationId) : withoutKey.open(networkOf(owner.address))
      const full = { resource: 'open_bodies', limit: MOST_PER_ADDRESS }
      return held(body, owner, full, ({ watch }) => read({ ...bounds, watch }))
    },
    answerBatch(request, organizationId, bounds, answer) {
      const declared = request.header('content-length')
      if (declared !== undefined && Number(declared) <= SMALL_BATCH) return answer(bounds)
      const full = { resource: 'open_batches', limit: MOST_BATCHES }
      return held(batches.open(organizationId), { organizationId }, full, ({ watch, arrived }) =>
        answer({ ...bounds, watch, arrived }),
      )
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
  /** It has arrived, and is no longer refused. */
  whole: boolean
}

interface Opened {
  readonly watch: NonNullable<BodyLimits['watch']>
  readonly arrived: NonNullable<BodyLimits['arrived']>
  isRefused(): boolean
  close(): void
}

/** @param mostBodies most bodies of one owner */
function createShare(mostBodies: number): { open(name: string): Opened | null } {
  const owners = new Map<string, Owner>()
  let held = 0
  /** Counts arrivals instead of time: it stands still while there is no pressure. */
  let now = 0

  function hold(owner: Owner, body: OpenBody, bytes: number): void {
    now += 1
    for (const holder of [owner, body]) {
      holder.bytes += bytes
      holder.arrivals += bytes * now
    }
    held += bytes
    while (held > MOST_BYTES && refuseHeaviest());
  }

  /** Weighs bytes by the time for which they are held, so that a large body that arrives at once outlives small idle ones. */
  function refuseHeaviest(): boolean {
    let heaviest: readonly [name: string, owner: Owner, oldest: OpenBody] | null = null
    let most = -1
    for (const [name, owner] of owners) {
      const weight = owner.bytes * now - owner.arrivals
      if (weight <= most) continue
      const oldest = unfinished(owner)
      if (oldest === undefined) continue
      heaviest = [name, owner, oldest]
      most = weight
    }
    if (heaviest === null) return false
    const [name, owner, oldest] = heaviest
    oldest.refused = true
    remove(name, owner, oldest)
    oldest.end?.(refusal())
    return true
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
      const body: OpenBody = { bytes: 0, arrivals: 0, end: null, refused: false, whole: false }
      owner.bodies.add(body)
      hold(owner, body, COST)
      return {
        watch(end) {
          body.end = end
          return (bytes) => {
            if (!body.refused) hold(owner, body, bytes)
          }
        },
        arrived(bytes) {
          if (!body.refused) hold(owner, body, Math.max(0, COST + bytes - body.bytes))
          if (body.refused) throw refusal()
          body.whole = true
        },
        isRefused: () => body.refused,
        close: () => remove(name, owner, body),
      }
    },
  }
}

/** The oldest body that is still arriving. */
function unfinished({ bodies }: Owner): OpenBody | undefined {
  for (const body of bodies) if (!body.whole) return body
  return undefined
}

function refusal(): NotifierError {
  return new NotifierError('service_unavailable', { retryAfterMs: RETRY_MS })
}
