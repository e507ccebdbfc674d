import { Redis } from 'ioredis'
import { afterAll, beforeAll, test } from 'vitest'
import { type RedisServer, startRedis } from '../../examples/servers/redis.ts'
import { queueContract } from '../../src/testing/queue/queue-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { queueHarness } from '../support/queue-harness.ts'
import { describeOwnRedis } from '../support/redis.ts'

const schema = uniqueSchema()
describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  describeOwnRedis('bullmqQueue', () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await startRedis()
    })
    afterAll(() => server.remove())

    queueContract(test, async () => {
      const url = await sharedPostgres()
      const queue = { engine: 'bullmq', url: server.url, name: 'carillon' } as const
      return queueHarness(
        { url, schema, queue },
        {
          async lose() {
            const client = new Redis(server.url)
            await client.flushall()
            client.disconnect()
          },
          async takeAway() {
            await server.kill()
            return () => server.start()
          },
        },
      )
    })
  })
})
