import type { AddressInfo } from 'node:net'
import { Queue, Worker } from 'bullmq'
import Fastify, { type FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import pg from 'pg'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import * as z from 'zod'
import { mails } from '../lib/notifiers.ts'
import { CONCURRENT, PATH, type Servers, type Stack } from '../stacks/stack.ts'

const QUEUE = 'notifications'
const KEY = 'rival-key'

const schema = z.object({
  channel: z.enum(['email', 'sms', 'push', 'slack']),
  to: z.email(),
  subject: z.string().optional(),
  body: z.string().min(1),
  variables: z.record(z.string(), z.unknown()).optional(),
})

const CREATE = `
  CREATE TABLE IF NOT EXISTS rival_notifications (
    id bigserial PRIMARY KEY, organization text NOT NULL, channel text NOT NULL, recipient text NOT NULL, subject text,
    body text NOT NULL, variables jsonb, status text NOT NULL, created_at timestamptz NOT NULL, sent_at timestamptz);
  CREATE INDEX IF NOT EXISTS rival_by_time ON rival_notifications (organization, created_at)`

const INSERT = `
  INSERT INTO rival_notifications (organization, channel, recipient, subject, body, variables, status, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, 'queued', now()) RETURNING id, created_at`

const INSERT_ALL = `
  INSERT INTO rival_notifications (organization, channel, recipient, subject, body, status, created_at)
  SELECT $1, 'email', recipient, subject, body, 'queued', now()
  FROM unnest($2::text[], $3::text[], $4::text[]) AS r (recipient, subject, body) RETURNING id`

const SENT = `UPDATE rival_notifications SET status = 'sent', sent_at = now() WHERE id = $1`

/**
 * A typical hand-written stack for many machines: Fastify, zod, rate-limiter-flexible on Redis, one insert and one
 * BullMQ job per request, and a worker that updates one row per job. Its keys are in memory. It has no events,
 * idempotency, templates or fairness, and loses a row if the process dies between the insert and the job.
 */
export function fastifyBullmqRival({ postgres, redis }: Servers): Stack {
  const pool = new pg.Pool({ connectionString: postgres, max: 20 })
  pool.on('error', () => {})
  const connection = new Redis(redis, { maxRetriesPerRequest: null })
  const limits = new Redis(redis)
  const limiter = new RateLimiterRedis({ storeClient: limits, points: 1_000_000_000, duration: 60 })
  const queue = new Queue(QUEUE, { connection, defaultJobOptions: { removeOnComplete: true, attempts: 8 } })
  const ready = pool.query(CREATE)
  let app: FastifyInstance | undefined
  let worker: Worker | undefined
  let workers: Redis | undefined

  async function rest(): Promise<void> {
    await worker?.close()
    workers?.disconnect()
    worker = undefined
  }

  return {
    rest,
    async serve() {
      await ready
      app = Fastify()
      app.post(PATH, async (request, reply) => {
        if (request.headers.authorization !== `Bearer ${KEY}`)
          return reply.code(401).send({ error: 'invalid_api_key' })
        const limit = await limiter.consume('org_default')
        reply.header('X-RateLimit-Remaining', limit.remainingPoints)
        const parsed = schema.safeParse(request.body)
        if (!parsed.success) return reply.code(422).send({ error: parsed.error.issues })
        const { channel, to, subject, body, variables } = parsed.data
        const values = ['org_default', channel, to, subject ?? null, body, JSON.stringify(variables ?? {})]
        const { rows } = await pool.query<{ id: string; created_at: Date }>(INSERT, values)
        const [row] = rows
        await queue.add('send', { id: row?.id, channel, to, subject, body })
        return reply
          .code(201)
          .send({ id: `notif_${row?.id}`, status: 'queued', channel, to, createdAt: row?.created_at })
      })
      await app.listen({ port: 0, host: '127.0.0.1' })
      return { port: (app.server.address() as AddressInfo).port, key: KEY }
    },
    async batch(count) {
      await ready
      const all = mails(count)
      const columns = [
        all.map(({ to }) => to),
        all.map(({ subject }) => subject),
        all.map(({ body }) => body),
      ]
      const { rows } = await pool.query<{ id: string }>(INSERT_ALL, ['org_default', ...columns])
      await queue.addBulk(rows.map(({ id }, index) => ({ name: 'send', data: { id, ...all[index] } })))
    },
    async work(delivered) {
      await ready
      workers = new Redis(redis, { maxRetriesPerRequest: null })
      worker = new Worker(
        QUEUE,
        async (job) => {
          // The provider is a no-op.
          await pool.query(SENT, [job.data.id])
        },
        { connection: workers, concurrency: CONCURRENT },
      )
      worker.on('completed', delivered)
      await worker.waitUntilReady()
    },
    async close() {
      await app?.close()
      await rest()
      await queue.close()
      await pool.end()
      connection.disconnect()
      limits.disconnect()
    },
  }
}
