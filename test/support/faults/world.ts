import type { ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import type { NotifierOptions } from '../../../src/options.ts'
import type { WorkOptions } from '../../integration/programs/work.ts'
import { eventually } from '../eventually.ts'
import { WAIT_MS } from '../patience.ts'
import { type Program, runProgram } from '../program.ts'
import { httpReceiver, type ReceivedRequest } from '../receivers.ts'
import { unfinished } from '../unfinished.ts'
import { httpProvider } from './http-provider.ts'
import { openStorage, type StorageLocation } from './store.ts'

/** A hand-over as the provider sees it. */
export interface Hit {
  /** The idempotency key, which is the notification's id. */
  readonly key: string
  readonly attempt: number
  readonly body: string
}

/** One database, one provider and one webhook endpoint, all on real sockets. */
export interface FaultWorld {
  readonly location: StorageLocation
  /** That of `api`. */
  readonly storage: Storage
  readonly port: number
  readonly endpointId: string
  readonly hits: readonly Hit[]
  readonly posts: readonly ReceivedRequest[]
  /** Replaces what the provider answers; the answer is sent when `handle` has not ended it. Default: accepted. */
  onHit: (hit: Hit, response: ServerResponse) => void
  /** The same of the endpoint's receiver. Default: 200. */
  onPost: (post: ReceivedRequest, response: ServerResponse) => void
  /** Starts a process on the database. */
  work(options: Partial<WorkOptions>): Program
  /** A notifier on the same database that accepts, and looks, and does not deliver. */
  readonly api: Notifier
  /** Delivers in this process until nothing is left to do. */
  recover(differing?: Partial<NotifierOptions>): Promise<void>
  close(): Promise<void>
}

/** Of processes that die: soon over, and long enough for a slow machine to come to the provider and back. */
const LEASE_MS = 1_200
/** Of the one that looks after them, which lives. */
const LONG_LEASE_MS = 20_000

const accepted = ({ key, attempt }: Hit, response: ServerResponse): void =>
  void response.writeHead(200).end(`${key}.${attempt}`)
const ok = (_post: ReceivedRequest, response: ServerResponse): void => void response.writeHead(200).end()

/** Resolves when no job is due, waits or is leased. */
export function drained(storage: Storage, withinMs = 3 * WAIT_MS): Promise<unknown> {
  return eventually(
    async () => {
      const { lanes } = await unfinished(storage)
      return lanes.every(({ due, scheduled, leased }) => due + scheduled + leased === 0)
    },
    { withinMs },
  )
}

/** @param more options of the notifiers in this process */
export async function faultWorld(
  location: StorageLocation,
  more: Partial<NotifierOptions> = {},
): Promise<FaultWorld> {
  const hits: Hit[] = []
  const provider = await httpReceiver((response, { headers, body }) => {
    const hit = {
      key: String(headers['idempotency-key']),
      attempt: Number(headers['x-attempt']),
      body: body.toString(),
    }
    hits.push(hit)
    world.onHit(hit, response)
  })
  const receiver = await httpReceiver((response, post) => world.onPost(post, response))

  const options = (storage: Storage): NotifierOptions => ({
    channels: { email: httpProvider({ port: provider.port, timeoutMs: LONG_LEASE_MS / 2 }) },
    storage,
    webhooks: { allowHttp: true, allow: ['127.0.0.0/8'] },
    delivery: { leaseMs: LONG_LEASE_MS, pollMs: 50 },
    ...more,
  })
  const storage = openStorage(location)
  const api = createNotifier(options(storage))
  await api.start({ deliver: false })
  const { id: endpointId } = await api.webhooks.create({ url: `http://127.0.0.1:${receiver.port}/` })

  const world: FaultWorld = {
    location,
    storage,
    port: provider.port,
    endpointId,
    api,
    hits,
    posts: receiver.requests,
    onHit: accepted,
    onPost: ok,
    work: (options) =>
      runProgram('work', {
        location,
        port: provider.port,
        leaseMs: LEASE_MS,
        ...options,
      } satisfies WorkOptions),
    async recover(differing = {}) {
      const storage = openStorage(location)
      const notifier = createNotifier({ ...options(storage), ...differing })
      await notifier.start()
      try {
        await drained(storage)
      } finally {
        await notifier.stop()
      }
    },
    async close() {
      await api.stop()
      await provider.close()
      await receiver.close()
    },
  }
  return world
}

/** Sets the answers of a world for one test. */
export function answering(world: FaultWorld, answers: Partial<Pick<FaultWorld, 'onHit' | 'onPost'>>): void {
  Object.assign(world, answers)
  onTestFinished(() => {
    Object.assign(world, { onHit: accepted, onPost: ok })
  })
}
