import { expect, it, onTestFinished } from 'vitest'
import { graphileWorkerQueue } from '../../../adapters/queue/graphile-worker/index.ts'
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { startProxy } from '../../../examples/production/proxy.ts'
import { type PostgresServer, startPostgres } from '../../../examples/servers/postgres.ts'
import { isNotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Queue } from '../../../src/core/ports/queue.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { endpoint, notes, page, timeOf } from '../../../src/testing/storage/fixtures.ts'
import {
  CONTRACT_START,
  insertion,
  item,
  itemKind,
  removal,
  replacement,
  write,
} from '../../../src/testing/storage/record-fixtures.ts'
import { eventually } from '../../support/eventually.ts'
import { describeWith } from '../../support/left-out.ts'
import { onPostgres, startStandby, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { unfinished } from '../../support/unfinished.ts'

const ORGANIZATION = 'org_default'
const keyed = { operation: 'send', key: 'k', fingerprint: 'f', result: 'r', ttlMs: 600_000 } as const

/** What clients connect to, as a load balancer or a virtual address: somebody behind it, or nobody for a while. */
interface Address {
  readonly url: string
  current: PostgresServer | undefined
}

async function newAddress(server: PostgresServer): Promise<Address> {
  const address: Address = { url: '', current: server }
  const proxy = await startProxy(() => (address.current === undefined ? [] : [address.current.port]))
  onTestFinished(() => proxy.close())
  return Object.assign(address, { url: `postgres://postgres@127.0.0.1:${proxy.port}/postgres` })
}

interface Pair {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
}

/** A commit waits until the standby has it, so that nothing that was answered is lost with the primary. */
async function newPair(): Promise<Pair> {
  const primary = await startPostgres()
  onTestFinished(() => primary.remove())
  const standby = await startStandby(primary)
  onTestFinished(() => standby.remove())
  await configure(primary, "synchronous_standby_names = '*'")
  return { primary, standby }
}

function configure({ url }: PostgresServer, setting: string): Promise<void> {
  return onPostgres(url, async (client) => {
    await client.query(`ALTER SYSTEM SET ${setting}`)
    await client.query('SELECT pg_reload_conf()')
  })
}

async function open({ url }: Address, schema: string): Promise<Storage> {
  const storage = postgres({ connectionString: url, schema, connectTimeoutMs: 5_000 })
  onTestFinished(() => storage.stop())
  await storage.start()
  return storage
}

const missing = whyNoPostgres(true)

describeWith(missing, 'a fail-over that does not carry a commit over', () => {
  it('is not taken for its success: neither is what was never heard of, nor what another one has done', async () => {
    const { primary, standby } = await newPair()
    const schema = uniqueSchema()
    const addresses = [await newAddress(primary), await newAddress(primary)]
    const storages = await Promise.all(addresses.map((address) => open(address, schema)))
    await standby.stop('fast')
    const answers = storages.map((storage, index) => {
      const idempotency = { ...keyed, key: `k${index}`, organizationId: ORGANIZATION }
      const request = { organizationId: ORGANIZATION, notifications: notes(2), idempotency }
      return storage.accept([request]).catch((error: unknown) => error)
    })
    // Written, and waiting for the standby.
    await eventually(() =>
      onPostgres(primary.url, async (client) => {
        const { rows } = await client.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        return rows.length === 2
      }),
    )
    for (const address of addresses) address.current = undefined
    await primary.stop('immediate')
    await standby.start()
    await standby.promote()
    // The first asks before the standby has given their numbers again, the second after.
    Object.assign(addresses[0] ?? {}, { current: standby })
    expect(await answers[0]).toMatchObject({ code: 'service_unavailable' })
    await onPostgres(standby.url, async (client) => {
      for (let count = 0; count < 50; count += 1) await client.query('SELECT pg_current_xact_id()')
    })
    Object.assign(addresses[1] ?? {}, { current: standby })
    expect(await answers[1]).toMatchObject({ code: 'service_unavailable' })
    const { items } = await (storages[1] as Storage).notifications.list(
      { organizationId: ORGANIZATION },
      page(),
    )
    expect(items).toEqual([])
  })

  it('nor is a change of a webhook endpoint or a record: a secret that nobody stored is not shown', async () => {
    const { primary, standby } = await newPair()
    const address = await newAddress(primary)
    const storage = await open(address, uniqueSchema())
    const [moved, rotated, gone] = [await endpoint(storage), await endpoint(storage), await endpoint(storage)]
    await storage.start(CONTRACT_START)
    const kept = await item(storage, { text: 'old' })
    const removed = await item(storage, { text: 'old' })
    await standby.stop('fast')
    const answers = [
      endpoint(storage),
      storage.webhookEndpoints.update(moved.id, { url: 'https://example.com/moved' }),
      storage.webhookEndpoints.rotateSecret(rotated.id, { secret: 'new', overlapMs: 60_000, most: 2 }),
      storage.webhookEndpoints.delete(gone.id, 100),
      write(storage, insertion()),
      write(storage, replacement(kept, { text: 'new' })),
      write(storage, removal(itemKind, removed.id)),
    ].map((answer: Promise<unknown>) => answer.catch((error: unknown) => error))
    // Written, and waiting for the standby.
    await eventually(() =>
      onPostgres(primary.url, async (client) => {
        const { rows } = await client.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        return rows.length === answers.length
      }),
    )
    address.current = undefined
    await primary.stop('immediate')
    await standby.start()
    await standby.promote()
    // Their numbers are others' now.
    await onPostgres(standby.url, async (client) => {
      for (let count = 0; count < 50; count += 1) await client.query('SELECT pg_current_xact_id()')
    })
    address.current = standby
    for (const answer of answers) expect(await answer).toMatchObject({ code: 'service_unavailable' })
    const { items } = await storage.webhookEndpoints.list(ORGANIZATION, page())
    const before = [gone, rotated, moved].map(({ url, secrets }) => ({ url, secrets }))
    expect(items.map(({ url, secrets }) => ({ url, secrets }))).toEqual(before)
    const records = await storage.records.list(itemKind, { organizationId: ORGANIZATION }, page())
    const { id, value, revision } = kept
    expect(records.items).toMatchObject([{ id: removed.id }, { id, value, revision }])
  })
})

describeWith(missing, 'a standby that is not promoted yet', () => {
  it('answers lists, filtered or not, and what waits', async () => {
    const { primary, standby } = await newPair()
    const address = await newAddress(primary)
    const storage = await open(address, uniqueSchema())
    await storage.accept([{ organizationId: ORGANIZATION, notifications: notes(2) }])
    await primary.stop('immediate')
    address.current = standby
    // What was open to the primary fails once.
    await eventually(() => timeOf(storage).catch(() => null))
    const scope = { organizationId: ORGANIZATION }
    for (const filter of [{}, { channel: 'email' }, { status: 'queued' }] as const) {
      const { items } = await eventually(() =>
        storage.notifications.list({ ...scope, ...filter }, page()).catch(() => null),
      )
      expect(items).toHaveLength(2)
    }
    expect((await storage.logs.list({ ...scope, channel: 'email' }, page())).items).toHaveLength(2)
    expect((await unfinished(storage)).lanes).toMatchObject([{ due: 2 }])
  })
})

/**
 * An API and a worker behind one address. Of its callers half repeat what was not answered, under the same key; the others
 * send without a key, in single statements, and ask for the next message instead.
 */
async function service(address: Address, queue: () => Queue | undefined = () => undefined) {
  const schema = uniqueSchema()
  const email = recordingProvider({
    timeoutMs: 1_000,
    retry: { kind: 'exponential', maxAttempts: 20, baseMs: 20, capMs: 200 },
  })
  const make = (): Notifier =>
    createNotifier({
      storage: postgres({
        connectionString: address.url,
        schema,
        connectTimeoutMs: 2_000,
        statementTimeoutMs: 5_000,
      }),
      channels: { email },
      delivery: { leaseMs: 2_000, pollMs: 100 },
      queue: queue(),
    })
  const [api, worker] = [make(), make()]
  for (const notifier of [api, worker]) {
    notifier.on('error', () => {})
    onTestFinished(() => notifier.stop({ timeoutMs: 100 }))
  }
  await api.start({ deliver: false })
  await worker.start()

  const accepted = new Set<string>()
  const others: unknown[] = []
  let going = true
  let unanswered = 0
  async function call(caller: number): Promise<void> {
    const repeats = caller % 2 === 0
    for (let count = 0; going; count += 1) {
      const message = { channel: 'email', to: 'ada@example.com', body: `${caller}.${count}` } as const
      for (let told = false; !told; ) {
        try {
          accepted.add((await api.send(message, repeats ? { idempotencyKey: message.body } : {})).id)
          told = true
        } catch (error) {
          if (!repeats) {
            unanswered += 1
            told = true
          }
          if (!isNotifierError(error) || error.code !== 'service_unavailable') others.push(error)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    }
  }
  const callers = [0, 1, 2, 3].map(call)
  return {
    async more(): Promise<void> {
      const before = accepted.size
      await eventually(() => accepted.size > before + 50)
    },
    /** Ends the load, and finds each that was accepted sent, and twice only what was marked. */
    async check(): Promise<void> {
      going = false
      await Promise.all(callers)
      expect(others).toEqual([])
      const times = (id: string): number =>
        email.calls.filter(({ context }) => context.notificationId === id).length
      await eventually(() => [...accepted].every((id) => times(id) > 0))
      for (const id of accepted) {
        const { timeline } = await eventually(async () => {
          const found = await api.notifications.get(id)
          return found.status === 'sent' ? found : null
        })
        const marked = timeline.filter(({ ambiguous }) => ambiguous).length
        expect(times(id), id).toBeLessThanOrEqual(1 + marked)
      }
      // Nothing was stored twice: it would have reached the provider under two ids.
      const ids = new Map<unknown, string>()
      for (const { message, context } of email.calls) {
        const id = ids.get(message.body) ?? context.notificationId
        expect(context.notificationId, String(message.body)).toBe(id)
        ids.set(message.body, id)
      }
      // And nothing else, but what nobody could tell the fate of.
      expect(ids.size).toBeLessThanOrEqual(accepted.size + unanswered)
    },
  }
}

describeWith(missing, 'a service under load, whose PostgreSQL fails over', () => {
  it('loses nothing when the primary dies, also where it is led to the standby too early', async () => {
    const { primary, standby } = await newPair()
    const address = await newAddress(primary)
    const { more, check } = await service(address)
    await more()
    await primary.stop('immediate')
    address.current = standby
    await new Promise((resolve) => setTimeout(resolve, 300))
    await standby.promote()
    await more()
    await check()
  })

  it('goes on when the old primary lives and writes no more: connections to it are not kept', async () => {
    const { primary, standby } = await newPair()
    const address = await newAddress(primary)
    const { more, check } = await service(address)
    await more()
    await configure(primary, 'default_transaction_read_only = on')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await standby.promote()
    address.current = standby
    await more()
    await check()
  })

  it('delivers on through graphile-worker, which shares the database, when the primary dies', async () => {
    const { primary, standby } = await newPair()
    const address = await newAddress(primary)
    const engine = { connectionString: address.url, schema: uniqueSchema(), pollMs: 100 }
    const { more, check } = await service(address, () => graphileWorkerQueue(engine))
    await more()
    await primary.stop('immediate')
    address.current = standby
    await standby.promote()
    await more()
    await check()
    // Refs are taken at the new primary, too: nothing is left to be found by the looks alone.
    await eventually(() =>
      onPostgres(standby.url, async (client) => {
        const { rows } = await client.query(
          `SELECT 1 FROM "${engine.schema}"._private_jobs WHERE locked_at IS NULL`,
        )
        return rows.length === 0
      }),
    )
  })
})
