// A process that asks a shared limiter for units as fast as it can, as soon as it is told the time to begin.
// It says "ready", and "allowed <count>" when all its calls were answered.
// Usage: node consume.ts <options as JSON>
import { redisRateLimiter } from '../../../adapters/rate-limit/redis/index.ts'

export interface ConsumeOptions {
  readonly url: string
  readonly prefix: string
  readonly calls: number
  readonly limit: number
}

const { url, prefix, calls, limit }: ConsumeOptions = JSON.parse(process.argv[2] ?? '')
const limiter = redisRateLimiter({ url, prefix, timeoutMs: 10_000 })
const check = {
  kind: 'window',
  key: 'org_a:race',
  limit,
  windowMs: 600_000,
  burst: limit,
  burstMs: 0,
  cost: 1,
} as const

await limiter.peek([check])
process.stdout.write('ready\n')
const decisions = await Promise.all(Array.from({ length: calls }, () => limiter.consume([check])))
process.stdout.write(`allowed ${decisions.filter(({ allowed }) => allowed).length}\n`)
await limiter.close()
