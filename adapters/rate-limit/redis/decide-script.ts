import { WINDOW } from './window-script.ts'

/**
 * Evaluates all checks and counts only if every one allows, for several equal calls in order. `counts` false: judge
 * only. Arguments of a check: `window` limit windowMs burst burstMs cost partial | `slots` limit leaseMs | `pause`.
 * After them, each call has a token per check of slots.
 *
 * The reply is text. Per call and check it holds allowed, granted, remaining, and reset and retry in microseconds,
 * separated by spaces.
 */
export const DECIDE: string = `
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

local judges = { window = judge_window, slots = judge_slots, pause = judge_pause }

local function judge(counts, first_key, keys, calls, at)
  local checks, windows, held = {}, {}, {}
  local function number() at = at + 1; return tonumber(ARGV[at - 1]) end
  for index = 1, keys do
    local key = KEYS[first_key + index - 1]
    local check = { kind = ARGV[at], key = key }
    at = at + 1
    if check.kind == 'window' then
      check.limit, check.width, check.burst = number(), number() * 1000, number()
      check.span, check.cost, check.partial = number() * 1000, number(), number() == 1
      windows[key] = windows[key] or load_window(key, check)
      check.window = windows[key]
    elseif check.kind == 'slots' then
      check.limit, check.lease = number(), number() * 1000
      held[#held + 1] = check
    end
    checks[index] = check
  end

  local reply = {}
  for _ = 1, calls do
    for _, check in ipairs(held) do
      check.token = ARGV[at]
      at = at + 1
    end
    local all = true
    for _, check in ipairs(checks) do
      local allowed, granted, remaining, reset, retry = judges[check.kind](check)
      check.allowed, check.granted, check.remaining, check.reset, check.retry = allowed, granted, remaining, reset, retry
      all = all and allowed
    end
    for _, check in ipairs(checks) do
      if not all and counts then
        check.granted = 0
        if check.kind == 'window' then check.remaining, check.reset = unused_window(check) end
        if check.kind == 'slots' and check.allowed then check.remaining = check.unused end
      elseif counts then
        if check.kind == 'window' then take_window(check) elseif check.kind == 'slots' then take_slot(check) end
      end
      local last = #reply
      reply[last + 1], reply[last + 2], reply[last + 3] = check.allowed and 1 or 0, check.granted, check.remaining
      reply[last + 4], reply[last + 5] = check.reset, check.retry
    end
  end
  return table.concat(reply, ' ')
end

local function refund(key, calls, at)
  refund_window(key, tonumber(ARGV[at]) * 1000, tonumber(ARGV[at + 1]) * calls)
  return '1'
end
`
