import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { resolveOptions } from '../../adapters/storage/postgres/options.ts'
import { createStorage } from '../../adapters/storage/postgres/storage.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { accept, claim, ended, note, organization } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

const reason = whyNoPostgres(true)
const suite = (name: string, tests: () => void): void => describeWith(reason, name, tests)

const DAY_MS = 86_400_000
const TABLES = 10
const server = ownPostgres()
const opened: Storage[] = []

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.stop()
})

/** @param days the longest retention */
async function dropPast(storage: Storage, days: number | null): Promise<number | undefined> {
  const longestMs = days === null ? null : days * DAY_MS
  const what = { receiptsOlderThanMs: null, unmatchedOlderThanMs: 1_000 * DAY_MS, longestMs }
  return (await storage.expire({ what, most: 100 })).removed.partitions
}

/** A storage that begins in January: it has the partitions of January, February and March. */
async function inJanuary() {
  const schema = uniqueSchema()
  let now = Date.UTC(2026, 0, 10)
  const options = resolveOptions({ connectionString: server.url, schema, listen: false })
  const storage = createStorage(options, () => now)
  opened.push(storage)
  await storage.start()
  const dated = () => note({ id: `notif_${now}${String(numbers++).padStart(16, '0')}` })
  let numbers = 0
  async function deliver(): Promise<void> {
    const jobs = await claim(storage, 10)
    await storage.settle(jobs.map((job) => ended(job)))
  }
  async function months(): Promise<string[]> {
    const { rows } = await onPostgres(server.url, (client) =>
      client.query(
        `SELECT right(c.relname, 7) AS month, count(*)::integer AS tables FROM pg_inherits AS i
         JOIN pg_class AS c ON c.oid = i.inhrelid
         WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND c.relname !~ 'default$'
         GROUP BY 1 ORDER BY 1`,
        [schema],
      ),
    )
    for (const { tables } of rows) expect(tables).toBe(TABLES)
    return rows.map(({ month }) => month)
  }
  return {
    schema,
    storage,
    accept: (organizationId?: string) => accept(storage, [dated()], organizationId),
    deliver,
    months,
    dropPast: (days: number | null) => dropPast(storage, days),
    at(time: number) {
      now = time
    },
  }
}

suite('partitions of other months', () => {
  it('are not looked into by what is claimed and settled, however many there are', async () => {
    const { schema, storage, accept, deliver } = await inJanuary()
    const many = 10
    for (let count = 0; count < many; count += 1) await accept()
    await deliver()
    // A connection that ends tells what it has counted; before PostgreSQL 15 a little later.
    await storage.stop()
    const others = await eventually(async () => {
      const { rows } = await onPostgres(server.url, (client) =>
        client.query(
          `SELECT relname ~ '2026_01$' AS own, sum(idx_scan)::integer AS scans FROM pg_stat_all_tables
           WHERE schemaname = $1 AND relname ~ '^(notifications|states|events|handovers)_' GROUP BY 1 ORDER BY 1`,
          [schema],
        ),
      )
      const [others, own] = rows
      return own.scans >= 2 * many ? others : null
    })
    expect(others.scans).toBeLessThan(many)
  })
})

suite('partitions of months that are over', () => {
  it('are dropped when they are empty, also where retention is for ever; the present and the next stay', async () => {
    const { storage, accept, months, dropPast, at } = await inJanuary()
    const [id = ''] = await accept()
    expect(await months()).toEqual(['2026_01', '2026_02', '2026_03'])
    at(Date.UTC(2026, 2, 1))
    expect(await dropPast(null)).toBe(0)
    at(Date.UTC(2026, 2, 2))
    expect(await dropPast(null)).toBe(TABLES)
    expect(await months()).toEqual(['2026_01', '2026_03'])
    expect((await storage.notifications.get(id))?.id).toBe(id)
    // What belongs to a month that is gone is kept all the same.
    at(Date.UTC(2026, 1, 5))
    const [late = ''] = await accept()
    expect((await storage.notifications.get(late))?.id).toBe(late)
  })

  it('are dropped with what they hold when that is past the longest retention, and not a day before', async () => {
    const { storage, accept, deliver, months, dropPast, at } = await inJanuary()
    await organization(storage, 'org_other')
    const ids = [...(await accept()), ...(await accept('org_other'))]
    await deliver()
    const past = Date.UTC(2026, 1, 1) + 101 * DAY_MS
    at(past - 1)
    await dropPast(100)
    expect(await dropPast(100)).toBe(0)
    at(past)
    expect(await dropPast(null)).toBe(0)
    expect(await dropPast(101)).toBe(0)
    expect(await months()).toContain('2026_01')
    expect(await dropPast(100)).toBe(TABLES)
    expect(await months()).not.toContain('2026_01')
    for (const id of ids) {
      expect(await storage.notifications.get(id)).toBeNull()
      expect(await storage.notifications.timeline(id)).toEqual([])
    }
  })

  it('stay while something in them has a job, or was heard of lately', async () => {
    const { storage, accept, deliver, months, dropPast, at } = await inJanuary()
    const [id = ''] = await accept()
    at(Date.UTC(2027, 0, 1))
    await dropPast(1)
    expect(await months()).toEqual(['2026_01'])
    await deliver()
    expect(await dropPast(1)).toBe(0)
    at(Date.UTC(2027, 0, 2) - 1)
    expect(await dropPast(1)).toBe(0)
    expect((await storage.notifications.get(id))?.status).toBe('sent')
    at(Date.UTC(2027, 0, 2))
    expect(await dropPast(1)).toBe(TABLES)
    expect(await storage.notifications.get(id)).toBeNull()
  })

  it('stay while somebody holds them, and nobody waits for that', async () => {
    const { schema, storage, accept, months, dropPast, at } = await inJanuary()
    at(Date.UTC(2026, 5, 1))
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      await client.query(`BEGIN; SELECT * FROM "${schema}".notifications`)
      const dropping = dropPast(null)
      // Who waited behind it would wait until the one that holds them goes.
      await Promise.all(Array.from({ length: 20 }, () => accept()))
      expect(await dropping).toBe(0)
      expect((await months()).length).toBe(3)
      await client.query('COMMIT')
      expect(await dropPast(null)).toBe(3 * TABLES)
      expect((await claim(storage, 100)).length).toBe(20)
    } finally {
      await client.end()
    }
  })

  it('are the default ones for a role that may create none, which starts and is told', async () => {
    const { schema, storage, at } = await inJanuary()
    await storage.stop()
    const role = `writer_${schema}`
    await onPostgres(server.url, (client) =>
      client.query(
        `CREATE ROLE "${role}" LOGIN; GRANT USAGE ON SCHEMA "${schema}" TO "${role}";
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO "${role}";
         GRANT USAGE ON ALL SEQUENCES IN SCHEMA "${schema}" TO "${role}"`,
      ),
    )
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const url = new URL(server.url)
    url.username = role
    const june = Date.UTC(2026, 5, 1)
    at(june)
    const writer = createStorage(
      resolveOptions({ connectionString: url.href, schema, listen: false }),
      () => june,
    )
    opened.push(writer)
    await writer.start()
    expect(warned).toHaveBeenCalledWith(expect.stringContaining(`"${schema}"`), {
      type: 'CarillonStorageWarning',
    })
    warned.mockRestore()
    const [id] = await accept(writer, [note({ id: `notif_${june}0000000000000000` })])
    const [job] = await claim(writer, 10)
    if (job === undefined) throw new Error('a job expected')
    expect(await writer.settle([ended(job)])).toMatchObject([{ kind: 'settled' }])
    expect(await writer.notifications.get(id ?? '')).toMatchObject({ id })
    // Nor may it drop what is over, or look into what another has made since.
    expect(await dropPast(writer, null)).toBe(0)
    await onPostgres(server.url, (client) =>
      client.query(`REVOKE ALL ON "${schema}".notifications_2026_01 FROM "${role}"`),
    )
    expect(await dropPast(writer, null)).toBe(0)
  })

  it('are dropped once by many at once, while others accept', async () => {
    const { storage, accept, months, dropPast, at } = await inJanuary()
    at(Date.UTC(2026, 5, 1))
    let dropped = 0
    let accepted = 0
    for (let round = 0; round < 100 && dropped < 3 * TABLES; round += 1) {
      const [counts, ids] = await Promise.all([
        Promise.all(Array.from({ length: 5 }, () => dropPast(null))),
        Promise.all(Array.from({ length: 10 }, () => accept())),
      ])
      for (const count of counts) dropped += count ?? 0
      accepted += ids.length
    }
    expect(dropped).toBe(3 * TABLES)
    expect(await months()).toEqual([])
    expect((await claim(storage, 1_000)).length).toBe(accepted)
  })
})
