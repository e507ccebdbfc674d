import { describe, expect, it } from 'vitest'
import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { graphileWorkerQueue } from '../../adapters/queue/graphile-worker/index.ts'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { openTelemetry } from '../../adapters/telemetry/opentelemetry.ts'
import { prometheusMetrics } from '../../adapters/telemetry/prometheus.ts'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import { recordingProvider, simulatorProvider } from '../../src/testing/index.ts'
import { expressReceiver, verifyWebhook } from '../../src/webhook-receiver/index.ts'

const connectionString = 'postgres://localhost/app'
const url = 'redis://localhost'
const secret = `whsec_${Buffer.alloc(32).toString('base64')}`

describe.each<[string, (options: never) => unknown, object, string]>([
  ['sqlite', sqlite, { file: 'app.db' }, 'synchronus'],
  ['postgres', postgres, { connectionString }, 'max'],
  ['redisRateLimiter', redisRateLimiter, { url }, 'keyPrefix'],
  ['bullmqQueue', bullmqQueue, { url }, 'queueName'],
  ['graphileWorkerQueue', graphileWorkerQueue, { connectionString }, 'pollInterval'],
  ['prometheusMetrics', prometheusMetrics, {}, 'registry'],
  ['openTelemetry', openTelemetry, {}, 'traceWebhook'],
  ['memoryRateLimiter', memoryRateLimiter, {}, 'url'],
  ['recordingProvider', recordingProvider, {}, 'maxPerSeconds'],
  ['simulatorProvider', simulatorProvider, { channel: 'email' }, 'baseURL'],
  ['webhook receiver', expressReceiver, { secret, handle: () => {} }, 'tolerance'],
  ['verifyWebhook', (options: never) => verifyWebhook('{}', {}, secret, options), {}, 'tolerance'],
])('%s', (name, make, options, slip) => {
  it('refuses an option that nobody knows, which would leave the default in silence', () => {
    expect(() => make({ ...options, [slip]: 5 } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', details: { option: slip } }),
    )
  })

  it.each([null, 5])('refuses %j as its options', (wrong) => {
    expect(() => make(wrong as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringContaining(name),
        details: { option: 'options' },
      }),
    )
  })
})

it('a webhook without headers is a wrong call', () => {
  expect(() => verifyWebhook('{}', undefined as never, secret)).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', details: { option: 'headers' } }),
  )
})

describe.each<[string, (options: never) => unknown, string]>([
  ['recordingProvider', recordingProvider, 'send'],
  ['recordingProvider', recordingProvider, 'accepts'],
  ['recordingProvider', recordingProvider, 'close'],
  ...[recordingProvider, simulatorProvider].flatMap((make): [string, (options: never) => unknown, string][] =>
    ['name', 'maxConcurrent', 'timeoutMs', 'retry', 'onAmbiguous'].map((option) => [make.name, make, option]),
  ),
  ['simulatorProvider', simulatorProvider, 'channel'],
  ['simulatorProvider', simulatorProvider, 'publicUrl'],
  ['simulatorProvider', simulatorProvider, 'clock'],
])('%s', (name, make, option) => {
  it.each([null, true])(`refuses %j as ${option}`, (wrong) => {
    expect(() =>
      make({ ...(make === simulatorProvider ? { channel: 'email' } : {}), [option]: wrong } as never),
    ).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringMatching(`^${name}: "${option}" must be `),
        details: { option },
      }),
    )
  })
})

describe.each<[string, (options: never) => unknown, object, string, readonly unknown[]]>([
  ['postgres', postgres, { connectionString }, 'listen', ['false', 0, null]],
  ['postgres', postgres, {}, 'pool', ['pool', null]],
  ['sqlite', sqlite, { file: 'app.db' }, 'clock', [null, Date.now, {}]],
  ['memoryRateLimiter', memoryRateLimiter, {}, 'clock', [null, { now: Date.now }]],
  ['redisRateLimiter', redisRateLimiter, { url }, 'onUnavailable', ['Allow', true, null]],
  ['redisRateLimiter', redisRateLimiter, { url }, 'onError', ['log', {}]],
  ['graphileWorkerQueue', graphileWorkerQueue, { connectionString }, 'inTransaction', ['false', 0]],
  ['prometheusMetrics', prometheusMetrics, {}, 'register', [null, {}]],
  ['openTelemetry', openTelemetry, {}, 'tracerProvider', [null, {}]],
  ['openTelemetry', openTelemetry, {}, 'traceWebhooks', ['false', 1]],
  ['webhook receiver', expressReceiver, { secret, handle: () => {} }, 'onError', ['log', null]],
  ['webhook receiver', expressReceiver, { secret, handle: () => {} }, 'maxBodyBytes', ['1mb', true]],
  ['webhook receiver', expressReceiver, { secret, handle: () => {} }, 'now', [5]],
  ['webhook receiver', expressReceiver, { secret, handle: () => {} }, 'toleranceMs', ['5 min', true]],
])('%s', (_, make, options, option, wrong) => {
  it.each(wrong)(`refuses %j as ${option}`, (value) => {
    expect(() => make({ ...options, [option]: value } as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        message: expect.stringContaining(`"${option}" must be `),
        details: { option },
      }),
    )
  })
})

it('a simulator needs a channel', () => {
  expect(() => simulatorProvider({} as never)).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', details: { option: 'channel' } }),
  )
})
