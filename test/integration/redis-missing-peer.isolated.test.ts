import { registerHooks } from 'node:module'
import { afterAll, expect, it } from 'vitest'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'

// As Node.js itself reports a package that is not installed.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!/(?:^|\/)ioredis(?:\/|$)/.test(specifier)) return next(specifier, context)
    const error = new Error(`Cannot find package 'ioredis' imported from ${context.parentURL}`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
afterAll(() => hooks.deregister())

it('redisRateLimiter without ioredis says with the first decision what to install, whatever it does in an outage', async () => {
  const limiter = redisRateLimiter({ url: 'redis://127.0.0.1:1', onUnavailable: 'allow' })
  await expect(limiter.consume([{ kind: 'pause', key: 'org_a:p' }])).rejects.toMatchObject({
    code: 'missing_peer',
    message: 'The package "ioredis" is not installed. Run: npm install ioredis',
  })
  await limiter.close()
})

it('and keeps a notifier from starting', async () => {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    rateLimiter: redisRateLimiter({ url: 'redis://127.0.0.1:1', onUnavailable: 'allow' }),
  })
  await expect(notifier.start()).rejects.toMatchObject({ code: 'missing_peer' })
  await notifier.stop()
})
