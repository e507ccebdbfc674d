import { createHash } from 'node:crypto'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { RedisClient } from './client.ts'

/** Runs a script within a bounded time, or says at once that the server is away. */
export interface Connection {
  /**
   * @throws NotifierError `invalid_configuration` where keys lie on several nodes of a cluster
   * @throws Error for everything else: nothing is known of what the script did
   */
  run(keys: readonly string[], args: readonly string[]): Promise<unknown>
}

/** A server that hangs is left alone for so long, so that calls do not pile up behind it. */
const REST_MS = 250
const LOOK_MS = 5

/**
 * @param script its text
 * @param open gives the client, and is asked again when it failed
 * @param timeoutMs how long a run may take, and how long a connection is waited for once it is not there
 * @param lastFault why it was not there last, as far as it is known
 */
export function createConnection(
  script: string,
  open: () => Promise<RedisClient>,
  timeoutMs: number,
  lastFault: () => unknown,
): Connection {
  /** Servers keep scripts under their hash. */
  const hash = createHash('sha1').update(script).digest('hex')
  const deadline = createDeadline(timeoutMs)
  let opened: Promise<RedisClient> | undefined
  /** The client, once it is there. */
  let client: RedisClient | undefined
  let connecting: Promise<boolean> | undefined
  let awaySince: number | undefined
  let restsUntil = 0

  /** The client when commands go out at once: nothing is left to wait in its queue. */
  async function ready(): Promise<RedisClient> {
    opened ??= open().catch((error) => {
      opened = undefined
      throw error
    })
    client = await opened
    if (client.status !== 'ready') {
      awaySince ??= performance.now()
      // One look at a time, however many wait for it.
      connecting ??= becomesReady(client, awaySince + timeoutMs).finally(() => {
        connecting = undefined
      })
      if (!(await connecting))
        throw new Error(`The connection to Redis is not ready: ${client.status}.`, { cause: lastFault() })
    }
    awaySince = undefined
    return client
  }

  async function execute(keys: readonly string[], args: readonly string[]) {
    if (restsUntil > 0 && performance.now() < restsUntil)
      throw new Error('Redis did not answer a moment ago.')
    const open = client?.status === 'ready' && awaySince === undefined ? client : await ready()
    try {
      return await deadline(open.evalsha(hash, keys.length, ...keys, ...args))
    } catch (error) {
      if (isReply(error, 'NOSCRIPT')) return deadline(open.eval(script, keys.length, ...keys, ...args))
      // Of a cluster the other nodes may be well.
      if (error instanceof Late && open.isCluster !== true) restsUntil = performance.now() + REST_MS
      throw error
    }
  }

  return {
    async run(keys, args) {
      try {
        return await execute(keys, args)
      } catch (error) {
        throw isReply(error, 'CROSSSLOT') || isReply(error, 'MOVED') ? onSeveralNodes(error) : error
      }
    },
  }
}

/** Waits for a client that connects; false: not in time. It is looked at: listeners would have to be taken off again. */
async function becomesReady(client: RedisClient, until: number): Promise<boolean> {
  // Another user of the client may begin the same moment; then there is nothing to do.
  if (client.status === 'wait') client.connect().catch(() => {})
  while (client.status !== 'ready') {
    if (client.status === 'end' || performance.now() >= until) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return true
}

class Late extends Error {}

/** Gives a promise up when it has not settled in time. */
type Deadline = (promise: Promise<unknown>) => Promise<unknown>

interface Waiting {
  readonly until: number
  readonly late: () => void
}

/** One timer for all of them: they end in the order in which they began, because each has the same time. */
function createDeadline(ms: number): Deadline {
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    timer = undefined
    const now = performance.now()
    for (const one of waiting) {
      if (one.until > now) {
        arm(one.until - now)
        return
      }
      waiting.delete(one)
      one.late()
    }
  }

  function arm(afterMs: number): void {
    const armed = setTimeout(() => {
      // What has come is read first: a turn of this process that took long is no silence of the server.
      setImmediate(() => {
        if (timer === armed) look()
      })
    }, Math.ceil(afterMs))
    timer = armed
  }

  return (promise) =>
    new Promise((resolve, reject) => {
      const one: Waiting = {
        until: performance.now() + ms,
        late: () => reject(new Late(`Redis did not answer within ${ms} ms.`)),
      }
      waiting.add(one)
      if (timer === undefined) arm(ms)
      const done = (): void => {
        waiting.delete(one)
        if (waiting.size > 0 || timer === undefined) return
        clearTimeout(timer)
        timer = undefined
      }
      promise.then(
        (value) => {
          done()
          resolve(value)
        },
        (error: unknown) => {
          done()
          reject(error)
        },
      )
    })
}

/** Tells an error that the server replied with. */
function isReply(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code)
}

function onSeveralNodes(cause: unknown): NotifierError {
  return new NotifierError('invalid_configuration', {
    message:
      'Redis is a cluster: give redisRateLimiter() a client made with "new Cluster(…)", and in one call only checks ' +
      'whose keys are the same up to their first colon.',
    cause,
  })
}
