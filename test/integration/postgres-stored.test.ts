import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { DEFAULT_ORGANIZATION } from '../../src/core/tenancy/organization.ts'
import { insertion, itemKind, write } from '../../src/testing/storage/record-fixtures.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

describeWith(whyNoPostgres(), 'what an organization stores on PostgreSQL', () => {
  it('is a sum of few rows, however much is written', async () => {
    const [url, schema] = [await sharedPostgres(), uniqueSchema()]
    const storage = postgres({ connectionString: url, schema })
    onTestFinished(() => storage.stop())
    await storage.start({ kinds: [itemKind] })
    let most = 0
    await onPostgres(url, async (client) => {
      for (let number = 0; number < 100; number += 1) {
        await write(storage, insertion())
        const { rows } = await client.query(`SELECT count(*)::integer AS count FROM "${schema}".stored`)
        most = Math.max(most, rows[0].count)
      }
    })
    expect(most).toBe(31)
    expect(await storage.records.stored(DEFAULT_ORGANIZATION)).toBe(100 * 202)
  })
})
