import { test } from 'vitest'
import { queueContract } from '../../src/testing/queue/queue-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { queueHarness } from '../support/queue-harness.ts'

const schema = uniqueSchema()
const engineSchema = uniqueSchema()
describeWith(whyNoPostgres(), 'graphileWorkerQueue', () => {
  queueContract(test, async () => {
    const url = await sharedPostgres()
    const queue = { engine: 'graphile-worker', connectionString: url, schema: engineSchema } as const
    return queueHarness(
      { url, schema, queue },
      {
        lose: () =>
          onPostgres(url, async (client) => {
            await client.query(`TRUNCATE "${engineSchema}"._private_jobs`)
          }),
        takeAway: null,
      },
    )
  })
})
