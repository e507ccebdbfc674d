import { PLAIN } from './plain-script.ts'
import { NOW, TIMES, WINDOW } from './window-script.ts'

/**
 * Judges all checks and counts only if every one allows; one call, so nothing comes between.
 *
 * KEYS one per check. ARGV: time (empty: the server's), `consume` or `peek`, then per check
 * `window` limit windowMs burst burstMs cost partial | `slots` limit token leaseMs | `pause`.
 * The reply is text: per check allowed, granted, remaining, and in microseconds reset and retry, separated by spaces.
 */
export const DECIDE: string = `
${NOW}
${PLAIN}
${TIMES}
${WINDOW}

local function judge_slots(check)
  local key = check.key
  local held = redis.call('ZCOUNT', key, '(' .. text(now), '+inf')
  local mine = (tonumber(redis.call('ZSCORE', key, check.token) or 0)) > now
  local used = mine and held or held + 1
  check.unused = math.max(0, check.limit - held)
  if used <= check.limit then return true, mine and 0 or 1, check.limit - used, 0, 0 end
  local first = redis.call('ZRANGEBYSCORE', key, '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  local wait = first[2] and tonumber(first[2]) - now or math.huge
  return false, 0, 0, wait, wait
end

local function take_slot(check)
  redis.call('ZREMRANGEBYSCORE', check.key, '-inf', text(now))
  redis.call('ZADD', check.key, text(now + check.lease), check.token)
  keep(check.key, check.lease)
end

local function judge_pause(check)
  local left = math.max(0, tonumber(redis.call('GET', check.key) or 0) - now)
  return left == 0, 0, 0, left, left
end

local checks, windows = {}, {}
at = 3
local function number() at = at + 1; return tonumber(ARGV[at - 1]) end
for index, key in ipairs(KEYS) do
  local check = { kind = ARGV[at], key = key }
  at = at + 1
  if check.kind == 'window' then
    check.limit, check.width, check.burst = number(), number() * 1000, number()
    check.span, check.cost, check.partial = number() * 1000, number(), number() == 1
    windows[key] = windows[key] or load_window(key, check)
    check.window = windows[key]
  elseif check.kind == 'slots' then
    check.limit, check.token, check.lease = number(), ARGV[at], tonumber(ARGV[at + 1]) * 1000
    at = at + 2
  end
  checks[index] = check
end

local judges = { window = judge_window, slots = judge_slots, pause = judge_pause }
local all = true
for _, check in ipairs(checks) do
  local allowed, granted, remaining, reset, retry = judges[check.kind](check)
  check.allowed, check.granted, check.remaining, check.reset, check.retry = allowed, granted, remaining, reset, retry
  all = all and allowed
end

local reply = {}
for _, check in ipairs(checks) do
  if not all and ARGV[2] == 'consume' then
    check.granted = 0
    if check.kind == 'window' then check.remaining, check.reset = unused_window(check) end
    if check.kind == 'slots' and check.allowed then check.remaining = check.unused end
  elseif ARGV[2] == 'consume' then
    if check.kind == 'window' then take_window(check) elseif check.kind == 'slots' then take_slot(check) end
  end
  local last = #reply
  reply[last + 1], reply[last + 2], reply[last + 3] = check.allowed and 1 or 0, check.granted, check.remaining
  reply[last + 4], reply[last + 5] = check.reset, check.retry
end
return table.concat(reply, ' ')
`
