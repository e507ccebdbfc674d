import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import type { AcceptAnswer } from '../../src/core/ports/storage/accept.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { note, notes, organization } from '../../src/testing/storage/fixtures.ts'
import { describeWith } from '../support/left-out.ts'
import { uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

const ORGANIZATION = 'org_default'
const PERIOD = '2026-11'

const reason = whyNoPostgres(true)

let server: PostgresServer
let client: pg.Client
let schema: string
const opened: Storage[] = []

/** A storage of its own pool, like another process. */
async function open(): Promise<Storage> {
  const storage = postgres({ connectionString: server.url, schema, maxConnections: 4 })
  opened.push(storage)
  await storage.start()
  return storage
}

async function send(storage: Storage, limit: number, notifications = [note()]): Promise<AcceptAnswer> {
  const [answer] = await storage.accept([
    { organizationId: ORGANIZATION, notifications, quota: { period: PERIOD, limit } },
  ])
  if (answer === undefined) throw new Error('no answer')
  return answer
}

async function numberOf(sql: string): Promise<number> {
  const { rows } = await client.query<{ number: string }>(sql.replaceAll('carillon.', `"${schema}".`))
  return Number(rows[0]?.number)
}

const stored = (): Promise<number> => numberOf('SELECT count(*) AS number FROM carillon.notifications')

describeWith(reason, 'quotas of processes that share PostgreSQL', () => {
  beforeAll(async () => {
    if (reason !== null) return
    // A draw takes at most its part of a quarter of the limit: few connections leave more to each.
    server = await startPostgres(['max_connections = 20'])
    client = new pg.Client({ connectionString: server.url })
    await client.connect()
  })

  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.stop()
  })

  afterAll(async () => {
    await client?.end()
    await server?.remove()
  })

  it('are drawn without waiting for a transaction that has the row', async () => {
    schema = uniqueSchema()
    const storage = await open()
    await send(storage, 1_000, notes(100))
    await client.query('BEGIN')
    expect(await numberOf('SELECT used AS number FROM carillon.usage FOR UPDATE')).toBe(100)
    expect(await send(storage, 1_000)).toMatchObject({ kind: 'accepted', admitted: 1 })
    expect(await send(storage, 1_000, notes(12))).toMatchObject({ kind: 'accepted', admitted: 12 })
    let waits = true
    // More than one draw may take: 1,000 / 4 / 20.
    const large = send(storage, 1_000, notes(13)).then(() => {
      waits = false
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(waits).toBe(true)
    await client.query('COMMIT')
    await large
    expect(await storage.quotaUsed(ORGANIZATION, PERIOD)).toBe(126)
  })

  it('are used up exactly, by draws and locks in a race of many connections', async () => {
    schema = uniqueSchema()
    const storages = [await open(), await open(), await open()]
    const limit = 400
    let left = 600
    let drawn = 0
    const answers: AcceptAnswer[] = []
    await Promise.all(
      storages.flatMap((storage) =>
        Array.from({ length: 4 }, async () => {
          while (left > 0) {
            left -= 1
            answers.push(await send(storage, limit, notes(1 + (left % 3))))
            if (answers.length % 50 !== 0) continue
            drawn += await numberOf('SELECT count(*) AS number FROM carillon.usage_additions')
          }
        }),
      ),
    )
    const admitted = answers.reduce(
      (sum, answer) => sum + (answer.kind === 'accepted' ? answer.admitted : 0),
      0,
    )
    expect(answers.every(({ kind }) => kind === 'accepted')).toBe(true)
    expect([admitted, await stored()]).toEqual([limit, limit])
    expect(await storages[0]?.quotaUsed(ORGANIZATION, PERIOD)).toBe(limit)
    expect(drawn).toBeGreaterThan(0)
  })

  it('are locked only when no draw is under way', async () => {
    schema = uniqueSchema()
    const storage = await open()
    await client.query('BEGIN')
    const draw = `SELECT "${schema}".draw_1(ARRAY['${ORGANIZATION}'], ARRAY['${PERIOD}'], ARRAY[1000], ARRAY[12]) AS drawn`
    expect((await client.query(draw)).rows).toEqual([{ drawn: true }])
    const all = send(storage, 1_000, notes(1_000))
    await new Promise((resolve) => setTimeout(resolve, 200))
    await client.query('COMMIT')
    expect(await all).toMatchObject({ kind: 'accepted', admitted: 988 })
    expect(await storage.quotaUsed(ORGANIZATION, PERIOD)).toBe(1_000)
  })

  it('store nothing where one of several is near its end, and all that is left by locks', async () => {
    schema = uniqueSchema()
    const storage = await open()
    await organization(storage, 'org_2')
    const quota = (limit: number) => ({ period: PERIOD, limit })
    const answers = await storage.accept([
      { organizationId: ORGANIZATION, notifications: notes(2), quota: quota(1_000) },
      { organizationId: 'org_2', notifications: notes(3), quota: quota(2) },
    ])
    expect(answers).toMatchObject([{ admitted: 2 }, { admitted: 2 }])
    expect(await storage.quotaUsed(ORGANIZATION, PERIOD)).toBe(2)
    expect(await storage.quotaUsed('org_2', PERIOD)).toBe(2)
    expect(await stored()).toBe(4)
  })

  it('are not drawn by what cannot be stored', async () => {
    schema = uniqueSchema()
    const storage = await open()
    const taken = note()
    await send(storage, 1_000, [taken])
    const answers = await storage.accept([
      { organizationId: ORGANIZATION, notifications: [note()], quota: { period: PERIOD, limit: 1_000 } },
      { organizationId: ORGANIZATION, notifications: [taken], quota: { period: PERIOD, limit: 1_000 } },
    ])
    expect(answers).toMatchObject([
      { kind: 'accepted' },
      { kind: 'failed', error: { code: 'already_exists' } },
    ])
    expect(await storage.quotaUsed(ORGANIZATION, PERIOD)).toBe(2)
  })

  it('are added up after a while', async () => {
    schema = uniqueSchema()
    const storage = await open()
    for (let count = 0; count < 5; count += 1) await send(storage, 1_000)
    await expect
      .poll(() => numberOf('SELECT count(*) AS number FROM carillon.usage_additions'), { timeout: 10_000 })
      .toBe(0)
    expect(await numberOf('SELECT used AS number FROM carillon.usage')).toBe(5)
    expect(await storage.quotaUsed(ORGANIZATION, PERIOD)).toBe(5)
  })
})
