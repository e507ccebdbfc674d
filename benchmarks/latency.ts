import { join } from 'node:path'
import { Queue, Worker } from 'bullmq'
import { createNotifier, type Notifier, type Storage } from 'carillon'
import { postgres } from 'carillon/postgres'
import { sqlite } from 'carillon/sqlite'
import { Redis } from 'ioredis'
import { startPostgres } from '../examples/servers/postgres.ts'
import { startRedis } from '../examples/servers/redis.ts'
import { describeMachine, record, withFolder } from './lib/measure.ts'

/**
 * Time from the call of `send` to the call of the provider on an idle system, beside BullMQ's from `add` to the
 * processor. One process each; PostgreSQL and Redis on the same machine.
 */

const MESSAGES = 400
const WARM_UP = 50
const EVERY_MS = 10
const BULLMQ = 'BullMQ, add to process'

interface Contender {
  readonly name: string
  /** Resolves when message `number` has arrived. */
  send(number: number): Promise<void>
  close(): Promise<void>
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function carillon(name: string, storage: Storage): Promise<Contender> {
  const arrived = new Map<string, () => void>()
  const notifier: Notifier = createNotifier({
    storage,
    channels: {
      email: {
        name: 'none',
        channel: 'email',
        async send({ to }) {
          arrived.get(to)?.()
          return { kind: 'accepted' }
        },
      },
    },
  })
  await notifier.start()
  return {
    name,
    send(number) {
      const to = `customer-${number}@example.com`
      return new Promise((resolve, reject) => {
        arrived.set(to, resolve)
        notifier
          .send({ channel: 'email', to, subject: 'Your parcel', body: 'It is on its way.' })
          .catch(reject)
      })
    },
    close: () => notifier.stop(),
  }
}

function bullmq(url: string): Contender {
  const arrived = new Map<number, () => void>()
  const connections = [1, 2].map(() => new Redis(url, { maxRetriesPerRequest: null }))
  const [first, second] = connections as [Redis, Redis]
  const queue = new Queue('latency', { connection: first })
  const worker = new Worker('latency', async (job) => arrived.get(job.data.number)?.(), {
    connection: second,
  })
  return {
    name: BULLMQ,
    send(number) {
      return new Promise((resolve, reject) => {
        arrived.set(number, resolve)
        queue.add('send', { number }, { removeOnComplete: true }).catch(reject)
      })
    },
    async close() {
      await worker.close()
      await queue.close()
      for (const connection of connections) connection.disconnect()
    },
  }
}

const onPostgres = await startPostgres(['fsync = on'])
const redis = await startRedis()
try {
  await withFolder(async (folder) => {
    const contenders = [
      bullmq(redis.url),
      await carillon('Carillon on PostgreSQL', postgres({ connectionString: onPostgres.url })),
      await carillon('Carillon on SQLite', sqlite({ file: join(folder, 'notifier.db') })),
    ]
    const times = new Map(contenders.map(({ name }) => [name, [] as number[]]))
    for (let number = 0; number < WARM_UP + MESSAGES; number += 1) {
      for (const { name, send } of contenders) {
        const began = performance.now()
        await send(number)
        if (number >= WARM_UP) times.get(name)?.push(performance.now() - began)
        await pause(EVERY_MS)
      }
    }
    console.log(describeMachine())
    console.table(
      [...times].map(([name, all]) => ({
        'From send to the provider, one message at a time': name,
        'p50, ms': quantile(all, 0.5).toFixed(2),
        'p99, ms': quantile(all, 0.99).toFixed(2),
      })),
    )
    for (const { name } of contenders.slice(1)) {
      for (const part of [0.5, 0.99]) {
        const [value, rival] = [
          quantile(times.get(name) ?? [], part),
          quantile(times.get(BULLMQ) ?? [], part),
        ]
        const unit = `ms (p${100 * part})`
        record({ title: 'From send to the provider', name, value, unit, floor: BULLMQ, ratio: value / rival })
      }
    }
    for (const { close } of contenders) await close()
  })
} finally {
  await onPostgres.remove()
  await redis.remove()
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
