import { DatabaseSync } from 'node:sqlite'
import Fastify, { type FastifyInstance } from 'fastify'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import * as z from 'zod'

/**
 * A typical hand-written stack for one machine without servers: Fastify, zod, rate-limiter-flexible in memory, and one
 * durable insert per request. No events, templates, idempotency or fairness.
 */
export function fastifySqliteRival(file: string, secret: string): FastifyInstance {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE api_keys (key TEXT PRIMARY KEY, organization TEXT NOT NULL);
    CREATE TABLE notifications (id INTEGER PRIMARY KEY, organization TEXT NOT NULL, channel TEXT NOT NULL,
      recipient TEXT NOT NULL, subject TEXT, body TEXT NOT NULL, variables TEXT, status TEXT NOT NULL,
      created_at TEXT NOT NULL);
    CREATE INDEX notifications_by_status ON notifications (status)`)
  database.prepare('INSERT INTO api_keys VALUES (?, ?)').run(secret, 'org_default')
  const findKey = database.prepare('SELECT organization FROM api_keys WHERE key = ?')
  const insert = database.prepare(`INSERT INTO notifications
    (organization, channel, recipient, subject, body, variables, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
  const limiter = new RateLimiterMemory({ points: 1_000_000_000, duration: 60 })
  const schema = z.object({
    channel: z.enum(['email', 'sms', 'push', 'slack']),
    to: z.email(),
    subject: z.string().optional(),
    body: z.string().min(1),
    variables: z.record(z.string(), z.unknown()).optional(),
  })
  const app = Fastify()
  app.addHook('onClose', () => database.close())
  app.post('/v1/notify', async (request, reply) => {
    const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const found = findKey.get(key) as { organization: string } | undefined
    if (found === undefined) return reply.code(401).send({ error: 'invalid_api_key' })
    const limit = await limiter.consume(found.organization)
    reply.header('X-RateLimit-Remaining', limit.remainingPoints)
    const parsed = schema.safeParse(request.body)
    if (!parsed.success) return reply.code(422).send({ error: parsed.error.issues })
    const { channel, to, subject, body, variables } = parsed.data
    const createdAt = new Date().toISOString()
    const values = [channel, to, subject ?? null, body, JSON.stringify(variables ?? {}), 'queued', createdAt]
    const { lastInsertRowid } = insert.run(found.organization, ...values)
    return reply.code(201).send({ id: `notif_${lastInsertRowid}`, status: 'queued', channel, to, createdAt })
  })
  return app
}
