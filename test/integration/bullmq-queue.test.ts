import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { startRedis } from '../../examples/servers/redis.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { WAIT_MS } from '../support/patience.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { hello, startNotifier, storage } from '../support/queue-notifier.ts'
import { describeOwnRedis } from '../support/redis.ts'

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  describeOwnRedis('bullmqQueue', () => {
    it('starts, delivers and stops while Redis is down, and recovers', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      await server.kill()
      const email = recordingProvider()
      const parts = { storage: await storage(), queue: bullmqQueue({ url: server.url, name: 'late' }) }
      const notifier = await startNotifier({ channels: { email }, ...parts })
      await notifier.send(hello)
      await eventually(async () => (await notifier.health()).queue?.takes === false)
      // Far sooner than the next look: what the engine does not take, the process that delivers takes itself.
      await notifier.send({ ...hello, to: 'early@example.com' })
      await email.waitFor({ to: 'early@example.com' }, { withinMs: WAIT_MS })

      await server.start()
      await eventually(async () => {
        await notifier.send(hello)
        return (await notifier.health()).queue?.takes
      })
      const before = email.calls.length
      await notifier.send({ ...hello, to: 'late@example.com' })
      await email.waitFor({ to: 'late@example.com' }, { withinMs: WAIT_MS })
      expect(email.calls.length).toBeGreaterThan(before)

      await server.kill()
      await notifier.stop({ timeoutMs: 3_000 })
    })

    it("takes the settings of the application's client, and does not change it", async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url, { lazyConnect: true, db: 3 })
      onTestFinished(() => client.disconnect())
      const email = recordingProvider()
      const queue = bullmqQueue({ client, prefix: 'ours:bull' })
      const notifier = await startNotifier({ channels: { email }, storage: await storage(), queue })
      await notifier.send({ ...hello, to: 'client@example.com' })
      await email.waitFor({ to: 'client@example.com' }, { withinMs: WAIT_MS })
      expect(client.status).toBe('wait')
      expect((await client.keys('*')).every((key) => key.startsWith('ours:bull:carillon:'))).toBe(true)
      await notifier.stop()
      expect(client.status).toBe('ready')
      expect(await client.keys('ours:bull:carillon:[0-9]*')).toEqual([])
    })

    it("ignores the commandTimeout of the application's client while it waits for a job", async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url, { commandTimeout: 100 })
      onTestFinished(() => client.disconnect())
      const email = recordingProvider()
      const queue = bullmqQueue({ client, name: 'patient' })
      const notifier = await startNotifier({ channels: { email }, storage: await storage(), queue })
      const errors: Error[] = []
      notifier.on('error', (error) => errors.push(error))
      await notifier.send({ ...hello, to: 'first@example.com' })
      await email.waitFor({ to: 'first@example.com' }, { withinMs: WAIT_MS })
      // Longer than that: the worker waits at the server.
      await sleep(500)
      await notifier.send({ ...hello, to: 'patient@example.com' })
      await email.waitFor({ to: 'patient@example.com' }, { withinMs: 5_000 })
      expect(errors).toEqual([])
    })

    it('reports why it cannot connect, also in a process that only accepts', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url)
      await client.config('SET', 'requirepass', 'secret')
      client.disconnect()
      const errors: Error[] = []
      const parts = { storage: await storage(), queue: bullmqQueue({ url: server.url, name: 'refused' }) }
      const api = createNotifier({ channels: { email: recordingProvider() }, ...parts })
      api.on('error', (error) => errors.push(error))
      onTestFinished(() => api.stop({ timeoutMs: 1_000 }))
      await api.start({ deliver: false })
      await api.send(hello)
      await eventually(() => errors.length > 0)
      expect(errors[0]).toMatchObject({
        message: expect.stringContaining('accepted no jobs'),
        cause: {
          message: expect.stringContaining('is not ready'),
          cause: { message: expect.stringContaining('NOAUTH') },
        },
      })
    })

    it('does not reveal the password that Redis refuses', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const client = new Redis(server.url)
      await client.config('SET', 'requirepass', 'secret')
      client.disconnect()
      const errors: Error[] = []
      const url = server.url.replace('127.', ':confidential@127.')
      const queue = bullmqQueue({ url, name: 'refused' })
      const notifier = await startNotifier({ storage: await storage(), queue })
      notifier.on('error', (error) => errors.push(error))
      await notifier.send(hello)
      await eventually(() => errors.length >= 2)
      const told = inspect(errors, { depth: Number.POSITIVE_INFINITY })
      expect(told.match(/WRONGPASS/g)?.length).toBeGreaterThanOrEqual(2)
      expect(told).not.toContain('confidential')
    })

    it('delays no send, and a stop only briefly, when Redis hangs', async () => {
      const server = await startRedis()
      onTestFinished(() => server.remove())
      const email = recordingProvider()
      const parts = { storage: await storage(), queue: bullmqQueue({ url: server.url, name: 'hanging' }) }
      const notifier = await startNotifier({ channels: { email }, ...parts, delivery: { pollMs: 1_000 } })
      await notifier.send({ ...hello, to: 'before@example.com' })
      await email.waitFor({ to: 'before@example.com' }, { withinMs: WAIT_MS })
      server.signal('SIGSTOP')
      onTestFinished(() => server.signal('SIGCONT'))
      // It answers to none of them before the test has ended.
      for (let count = 0; count < 20; count += 1)
        await notifier.send({ ...hello, to: `h${count}@example.com` })
      await email.waitFor({ to: 'h19@example.com' }, { withinMs: WAIT_MS })
      await notifier.stop({ timeoutMs: 2_000 })
    })
  })
})
