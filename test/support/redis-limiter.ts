import { onTestFinished } from 'vitest'
import { type RedisRateLimiterOptions, redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import type { RateLimiter } from '../../src/core/ports/rate-limiter.ts'
import { newPrefix } from './redis.ts'

/** A limiter that closes with its test. */
export function redisLimiter(options: RedisRateLimiterOptions): RateLimiter {
  const limiter = redisRateLimiter({ prefix: newPrefix(), timeoutMs: 2_000, ...options })
  onTestFinished(limiter.close)
  return limiter
}
