import { afterAll, beforeAll, test } from 'vitest'
import { type RedisServer, startRedis, valkeyProgram } from '../../examples/servers/redis.ts'
import { rateLimiterContract } from '../../src/testing/rate-limiter/rate-limiter-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { describeRedis, limiterHarness, openRedisServer } from '../support/redis.ts'

describeRedis('redisRateLimiter', () => {
  let server: Awaited<ReturnType<typeof openRedisServer>>
  beforeAll(async () => {
    server = await openRedisServer()
  })
  afterAll(() => server.close())

  rateLimiterContract(test, async () => limiterHarness(server.url))
})

const noValkey = valkeyProgram === undefined ? 'no valkey-server on the PATH' : null

/* Another server: its Lua runs the script that decides. */
describeWith(noValkey, 'redisRateLimiter on Valkey', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis([], valkeyProgram)
  })
  afterAll(() => server.remove())

  rateLimiterContract(test, async () => limiterHarness(server.url))
})
