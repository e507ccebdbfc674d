import { expect, it, onTestFinished } from 'vitest'
import { graphileWorkerQueue } from '../../adapters/queue/graphile-worker/index.ts'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

describeWith(whyNoPostgres(), 'graphileWorkerQueue', () => {
  it('a storage whose role may not add jobs is refused at the start, whatever keeps it from that', async () => {
    const url = await sharedPostgres()
    const schema = uniqueSchema()
    const engineSchema = uniqueSchema()
    const role = uniqueSchema()
    const theirs = new URL(url)
    theirs.username = role
    theirs.password = 'password'
    const start = async (): Promise<void> => {
      const notifier = createNotifier({
        channels: { email: recordingProvider() },
        storage: postgres({ connectionString: theirs.href, schema, maxConnections: 2 }),
        queue: graphileWorkerQueue({ connectionString: url, schema: engineSchema }),
      })
      onTestFinished(() => notifier.stop())
      await notifier.start({ deliver: false })
    }
    await onPostgres(url, async (client) => {
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'password'`)
      await client.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${role}`)
      onTestFinished(() =>
        onPostgres(url, async (last) => void (await last.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`))),
      )
      for (const [fault, mend] of [
        ['schema', `GRANT USAGE ON SCHEMA ${engineSchema} TO ${role}`],
        ['table', `GRANT ALL ON ALL TABLES IN SCHEMA ${engineSchema} TO ${role}`],
        ['policy', `ALTER ROLE ${role} BYPASSRLS`],
      ] as const) {
        await expect(start()).rejects.toMatchObject({
          code: 'invalid_configuration',
          message: expect.stringMatching(`the role of the storage cannot add jobs: .*${fault}`),
          details: { option: 'inTransaction' },
        })
        await client.query(mend)
      }
      await client.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA ${engineSchema} TO ${role}`)
      await start()
      const { rows } = await client.query(`SELECT 1 FROM ${engineSchema}._private_jobs`)
      expect(rows).toEqual([])
    })
  })
})
