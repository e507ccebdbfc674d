import { createHash } from 'node:crypto'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { RedisClient } from './client.ts'

/** Runs a script within a time limit, or fails at once if the server is down. */
export interface Connection {
  /**
   * @throws NotifierError `invalid_configuration` if the keys lie on several nodes of a cluster
   * @throws Error for any other failure; the effect of the script is unknown then
   */
  run(keys: readonly string[], args: readonly string[]): Promise<unknown>
}

/** Rest for a server that hangs, so that calls do not pile up. */
const REST_MS = 250
const LOOK_MS = 5

/**
 * @param script text of the script
 * @param open returns the client; called again after a failure
 * @param timeoutMs time limit of a run, and of the wait for a lost connection
 * @param lastFault the last connection error, if known
 */
export function createConnection(
  script: string,
  open: () => Promise<RedisClient>,
  timeoutMs: number,
  lastFault: () => unknown,
): Connection {
  /** Servers cache scripts by this hash. */
  const hash = createHash('sha1').update(script).digest('hex')
  const deadline = createDeadline(timeoutMs)
  let opened: Promise<RedisClient> | undefined
  /** Set once open. */
  let client: RedisClient | undefined
  let connecting: Promise<boolean> | undefined
  let awaySince: number | undefined
  let restsUntil = 0

  /** Returns a client that sends commands at once instead of queueing them. */
  async function ready(): Promise<RedisClient> {
    opened ??= open().catch((error) => {
      opened = undefined
      throw error
    })
    client = await opened
    if (client.status !== 'ready') {
      awaySince ??= performance.now()
      // All callers share one poll.
      connecting ??= waitUntilReady(client, awaySince + timeoutMs).finally(() => {
        connecting = undefined
      })
      if (!(await connecting))
        throw new Error(`The connection to Redis is not ready: ${client.status}.`, { cause: lastFault() })
    }
    awaySince = undefined
    return client
  }

  async function execute(keys: readonly string[], args: readonly string[]) {
    if (restsUntil > 0 && performance.now() < restsUntil) throw new Error('Redis timed out a moment ago.')
    const open = client?.status === 'ready' && awaySince === undefined ? client : await ready()
    try {
      return await deadline(open.evalsha(hash, keys.length, ...keys, ...args))
    } catch (error) {
      if (isReply(error, 'NOSCRIPT')) return deadline(open.eval(script, keys.length, ...keys, ...args))
      // The other nodes of a cluster may be healthy.
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

/** Waits for a client to connect. False: too late. It polls, because listeners would have to be removed again. */
async function waitUntilReady(client: RedisClient, until: number): Promise<boolean> {
  // If another user of the client connects at the same moment, this call fails harmlessly.
  if (client.status === 'wait') client.connect().catch(() => {})
  while (client.status !== 'ready') {
    if (client.status === 'end' || performance.now() >= until) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return true
}

class Late extends Error {}

/** Rejects if a promise does not settle in time. */
type Deadline = (promise: Promise<unknown>) => Promise<unknown>

interface Waiting {
  readonly until: number
  readonly late: () => void
}

/** One timer serves all promises: with equal time limits they expire in order. */
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
      // Reads pending input first: a long turn of this process is not a silent server.
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

/** True for an error reply of the server. */
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
