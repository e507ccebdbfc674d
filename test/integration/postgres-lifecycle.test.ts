import { afterAll, expect, it, onTestFinished } from 'vitest'
import { postgresStorage } from '../../adapters/storage/postgres/index.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import {
  onPostgres,
  sharedPostgres,
  stopSharedPostgres,
  uniqueSchema,
  whyNoPostgres,
} from '../support/postgres.ts'

afterAll(stopSharedPostgres)

const ROUNDS = Array.from({ length: 30 }, (_, index) => index)

async function create(): Promise<Storage> {
  const storage = postgresStorage({ connectionString: await sharedPostgres(), schema: uniqueSchema() })
  onTestFinished(() => storage.stop())
  return storage
}

/** Every connection of Carillon's is closed: a server forgets one a moment later. */
async function expectNoConnection(): Promise<void> {
  await eventually(async () => {
    const { rows } = await onPostgres(await sharedPostgres(), (client) =>
      client.query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'carillon%'"),
    )
    return rows.length === 0
  })
}

describeWith(whyNoPostgres(), 'a PostgreSQL storage that starts and stops', () => {
  it('starts when the stop that is under way has ended, and is used', async () => {
    const storage = await create()
    for (const _ of ROUNDS) {
      await storage.start()
      const pending = storage.organizations.get('org_default')
      const stopped = storage.stop()
      await storage.start()
      expect((await pending)?.id).toBe('org_default')
      expect((await storage.organizations.get('org_default'))?.id).toBe('org_default')
      await stopped
      await Promise.all([storage.stop(), storage.start(), storage.stop()])
    }
    await expectNoConnection()
  })
})
