import { expect, it } from 'vitest'
import type { Fact } from '../../src/core/notification/facts.ts'
import {
  accept,
  claim,
  deliver,
  ended,
  endpoint,
  idOf,
  note,
  notes,
  sent,
} from '../../src/testing/storage/fixtures.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'

const ORGANIZATION = 'org_default'
const quota = { period: '2026-11', limit: 100_000 }
const server = ownPostgres()

describeWithOwnPostgres('a fault', () => {
  it('in one request does not undo the others of its set', async () => {
    const storage = await server.open()
    const taken = note()
    await accept(storage, [taken])
    const unserializable = note({
      content: { template: { id: 't', name: 'n', version: 1 }, variables: { big: 1n } },
    })
    const requests = Array.from({ length: 40 }, (_, index) => ({
      organizationId: ORGANIZATION,
      notifications: index === 13 ? [note(), taken] : index === 31 ? [unserializable] : notes(2),
      quota,
    }))
    const answers = await storage.accept(requests)
    expect(
      answers.map(({ kind }, index) => (kind === 'failed' ? index : -1)).filter((index) => index >= 0),
    ).toEqual([13, 31])
    expect(await storage.quotaUsed(ORGANIZATION, quota.period)).toBe(76)
    expect((await claim(storage, 1_000)).length).toBe(77)
  })

  it('in one settlement does not undo the others, and keeps its lease', async () => {
    const storage = await server.open()
    await accept(storage, notes(9))
    const jobs = await claim(storage, 9)
    const answers = await storage.settle(
      jobs.map((job, index) =>
        ended(job, [index === 4 ? { ...sent(), durationMs: 1n as unknown as number } : sent()]),
      ),
    )
    expect(answers.map(({ kind }) => kind)).toEqual(
      jobs.map((_, index) => (index === 4 ? 'failed' : 'settled')),
    )
    expect(await storage.renew(jobs.slice(4, 5), 60_000)).toEqual([true])
  })

  it('in one report does not undo the others, and the report may come again', async () => {
    const storage = await server.open()
    await accept(storage, [note()])
    await storage.settle((await claim(storage)).map((job) => ended(job, [sent({ providerMessageId: 'm' })])))
    const report = (dedupeKey: string, change: object) => ({
      provider: 'smtp',
      organizationId: null,
      dedupeKey,
      fact: { type: 'opened', provider: 'smtp', providerMessageId: 'm', ...change } as Fact,
    })
    const reports = Array.from({ length: 20 }, (_, index) =>
      report(`${index % 15}`, index === 7 ? { occurredAt: 1n } : {}),
    )
    const answers = await storage.recordReceipts(reports)
    expect(answers.map(({ kind }) => kind)).toEqual(
      reports.map((_, index) => (index === 7 ? 'failed' : index < 15 ? 'recorded' : 'duplicate')),
    )
    expect(await storage.recordReceipts([report('7', {})])).toMatchObject([{ kind: 'recorded' }])
  })
})

describeWithOwnPostgres('a row that was deleted by hand', () => {
  const remove = (schema: string, id: string) =>
    onPostgres(server.url, (client) =>
      client.query(`DELETE FROM "${schema}".notifications WHERE id = $1`, [id]),
    )

  it('takes its own job with it if it is a notification', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema)
    const [first = '', gone = '', last = ''] = await accept(storage, notes(3))
    await remove(schema, gone)
    expect((await claim(storage, 2)).map(idOf)).toEqual([first])
    expect((await claim(storage, 2)).map(idOf)).toEqual([last])
    const { rows } = await onPostgres(server.url, (client) =>
      client.query(`SELECT subject FROM "${schema}".jobs ORDER BY id`),
    )
    expect(rows.map(({ subject }) => subject)).toEqual([first, last])
  })

  it('takes its own job with it if it is a delivery', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema)
    const { id } = await endpoint(storage)
    await accept(storage, notes(5))
    for (let left = 5; left > 0; left -= 1) await deliver(storage)
    await onPostgres(server.url, (client) =>
      client.query(
        `DELETE FROM "${schema}".deliveries WHERE seq = (SELECT min(seq) FROM "${schema}".deliveries)`,
      ),
    )
    expect(await claim(storage, 1, id)).toEqual([])
    expect(await claim(storage, 5, id)).toHaveLength(4)
  })

  it('fails its own settlement only if the notification was under way', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema)
    const [, gone = ''] = await accept(storage, notes(3))
    const jobs = await claim(storage, 3)
    await remove(schema, gone)
    const answers = await storage.settle(jobs.map((job) => ended(job)))
    expect(answers.map(({ kind }) => kind)).toEqual(['settled', 'failed', 'settled'])
  })
})
