import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

const MOST = 100_000
const COLUMNS = 'id, organization, list, version, value, created_at'

type Run = (statement: string) => Promise<unknown>

/** A storage, the table of its organizations, and what runs a statement on it behind its back. */
type Open = () => Promise<{ readonly storage: Storage; readonly run: Run; readonly table: string }>

const organizationOf = (index: number): string => `org_${index}`

/** The kinds of the answers: of so many requests, from the first of these organizations on. */
async function answersTo(storage: Storage, first: number, count: number): Promise<ReadonlySet<string>> {
  const requests = Array.from({ length: count }, (_, index) => ({
    organizationId: organizationOf(first + index),
    notifications: [],
  }))
  return new Set((await storage.accept(requests)).map(({ kind }) => kind))
}

function knowsSoMany(open: Open): void {
  it('which organizations there are is remembered of so many, and looked up again', async () => {
    const { storage, run, table } = await open()
    const all = `WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < ${MOST + 1_000})`
    await run(`INSERT INTO ${table} (${COLUMNS}) ${all} SELECT 'org_' || i, '', 'open', 1, '{}', 0 FROM c`)
    expect(await answersTo(storage, 0, 1)).toEqual(new Set(['accepted']))
    await run(`DELETE FROM ${table} WHERE id = '${organizationOf(0)}'`)
    expect(await answersTo(storage, 0, 1)).toEqual(new Set(['accepted']))
    // A hundred of each set are known already, and one set makes them forgotten.
    for (let first = 1; first < MOST; first += 900) {
      expect(await answersTo(storage, first, 1_000)).toEqual(new Set(['accepted']))
    }
    expect(await answersTo(storage, 0, 1)).toEqual(new Set(['failed']))
  }, 60_000)

  it('which organizations there are is not remembered over a stop: what is opened next may be another', async () => {
    const { storage, run, table } = await open()
    await run(`INSERT INTO ${table} (${COLUMNS}) VALUES ('org_0', '', 'open', 1, '{}', 0)`)
    expect(await answersTo(storage, 0, 1)).toEqual(new Set(['accepted']))
    await storage.stop()
    await run(`DELETE FROM ${table} WHERE id = 'org_0'`)
    await storage.start()
    expect(await answersTo(storage, 0, 1)).toEqual(new Set(['failed']))
  })
}

describeWith(whyNoPostgres(), 'PostgreSQL', () => {
  knowsSoMany(async () => {
    const connectionString = await sharedPostgres()
    const schema = uniqueSchema()
    const storage = postgres({ connectionString, schema })
    onTestFinished(() => storage.stop())
    await storage.start()
    const run: Run = (statement) => onPostgres(connectionString, (client) => client.query(statement))
    return { storage, table: `${schema}.r_organizations`, run }
  })
})
