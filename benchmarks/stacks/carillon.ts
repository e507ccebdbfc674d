import type { AddressInfo } from 'node:net'
import { createNotifier, type Notifier } from 'carillon'
import { notifierPlugin } from 'carillon/fastify'
import { postgres } from 'carillon/postgres'
import { redisRateLimiter } from 'carillon/redis'
import Fastify, { type FastifyInstance } from 'fastify'
import { mails, ROOMY_PLANS } from '../lib/notifiers.ts'
import { CONCURRENT, type Servers, type Stack } from './stack.ts'

/** Carillon on PostgreSQL with limits in Redis and all features on, in Fastify. */
export function carillonStack({ postgres: onPostgres, redis }: Servers): Stack {
  let accepting: Promise<Notifier> | undefined
  let working: Notifier | undefined
  let app: FastifyInstance | undefined

  function create(): Notifier {
    return createNotifier({
      storage: postgres({ connectionString: onPostgres }),
      rateLimiter: redisRateLimiter({ url: redis }),
      channels: {
        email: {
          name: 'none',
          channel: 'email',
          maxConcurrent: CONCURRENT,
          send: async () => ({ kind: 'accepted' }),
        },
      },
      plans: ROOMY_PLANS,
    })
  }

  async function started(): Promise<Notifier> {
    const notifier = create()
    await notifier.start({ deliver: false })
    return notifier
  }

  const accepts = (): Promise<Notifier> => {
    accepting ??= started()
    return accepting
  }

  return {
    async serve(given) {
      const notifier = await accepts()
      const key = given ?? (await notifier.apiKeys.create({ name: 'benchmark', permission: 'Write' })).secret
      app = Fastify()
      app.register(notifierPlugin(notifier, { https: 'allow-loopback' }))
      await app.listen({ port: 0, host: '127.0.0.1' })
      return { port: (app.server.address() as AddressInfo).port, key }
    },
    async batch(count) {
      await (await accepts()).sendBatch(mails(count))
    },
    async work(delivered) {
      working = create()
      working.on('notification.sent', delivered)
      await working.start()
    },
    async rest() {
      await working?.stop()
      working = undefined
    },
    async close() {
      await app?.close()
      await working?.stop()
      await (await accepting)?.stop()
    },
  }
}
