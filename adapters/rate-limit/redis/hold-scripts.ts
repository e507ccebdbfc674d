import { NOW, TIMES } from './window-script.ts'

/** Pauses KEYS[1] for ARGV[2] milliseconds; a longer pause stays. */
export const PAUSE: string = `
${NOW}
${TIMES}
local ends = now + tonumber(ARGV[2]) * 1000
if ends > tonumber(redis.call('GET', KEYS[1]) or 0) then
  redis.call('SET', KEYS[1], text(ends))
  keep(KEYS[1], ends - now)
end
return 1
`

/** Extends the slot of token ARGV[2] to ARGV[3] milliseconds from now; 0: there is none any more. */
export const RENEW: string = `
${NOW}
${TIMES}
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2]) or 0) <= now then return 0 end
local lease = tonumber(ARGV[3]) * 1000
redis.call('ZADD', KEYS[1], text(now + lease), ARGV[2])
keep(KEYS[1], lease)
return 1
`

/** Gives back the slot of token ARGV[2]. */
export const RELEASE: string = `return redis.call('ZREM', KEYS[1], ARGV[2])`
