/**
 * `now` in whole microseconds, for exact arithmetic: from ARGV[1] in milliseconds, or the server's time. Scripts
 * replicate their effects, so they may read the time before they write.
 */
export const NOW = `
local now = tonumber(ARGV[1])
if now then
  now = now * 1000
else
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
`

/** Functions on times, after {@link NOW}. */
export const TIMES = `
local function text(number) return string.format('%.17g', number) end

-- A second of slack: a key must not expire before its content.
local function keep(key, us)
  local ms = math.ceil(us / 1000) + 1000
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, text(ms)) end
end

-- Units within a grain share an entry. The grain depends on each call's limit, because a plan can change it.
local function grain_of(limit, width) return limit <= 1024 and 0 or width / 6000 end
`

/**
 * A window is one string: a header, then entries in order of time. Each entry holds a time and the running total of
 * units up to it. The count of a window is the difference of two totals. A binary search finds the time at which it
 * falls to a number: exact, with 16 bytes per entry and at most a dozen short reads. The header repeats the oldest
 * entry and is the only place of the youngest, so most calls read nothing else.
 *
 * As in memory, units of one time share an entry. Above a limit of 1024, so do units within a 6000th of the window: the
 * count is never too low, and a unit expires at most that much late.
 */
export const WINDOW = `
local HEADER, ENTRY = 80, 16
local HEADER_FORMAT, ENTRY_FORMAT = '<dddddddddd', '<dd'

local function read_entry(window, index)
  if index == window.length - 1 then return window.last, window.total end
  local from = HEADER + index * ENTRY
  return struct.unpack(ENTRY_FORMAT, redis.call('GETRANGE', window.key, from, from + ENTRY - 1))
end

-- The first index in [low, high) with holds(time, total), which is monotonic; high: none.
local function first_entry(window, low, high, holds)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if holds(read_entry(window, middle)) then high = middle else low = middle + 1 end
  end
  return low
end

-- head: entries before it have expired; gone: the total up to head; first, upto: the entry at head;
-- last, total: the youngest entry; grain: that of the last call; kept: earliest expiry of the key.
local function load_window(key, check)
  local window = { key = key, width = check.width }
  local header = redis.call('GETRANGE', key, 0, HEADER - 1)
  if #header == HEADER then
    window.head, window.length, window.gone, window.first, window.upto, window.last, window.total,
      window.episode, window.grain, window.kept = struct.unpack(HEADER_FORMAT, header)
  end
  if #header ~= HEADER or window.last + window.width <= now then
    window.head, window.length, window.gone, window.total, window.last = 0, 0, 0, 0, -math.huge
    window.episode = window.episode or -math.huge
    window.anew = true
  elseif window.first + window.width <= now then
    window.head = first_entry(window, window.head + 1, window.length, function(time)
      return time + window.width > now
    end)
    local _, gone = read_entry(window, window.head - 1)
    window.gone = gone
    window.first, window.upto = read_entry(window, window.head)
  end
  return window
end

local function count_of(window) return window.total - window.gone end

-- The time at which the count falls to target; now, if it already has.
local function falls_to(window, target)
  if count_of(window) <= target then return now end
  if target < 0 then return math.huge end
  if window.total - window.upto <= target then return window.first + window.width end
  local index = first_entry(window, window.head + 1, window.length, function(_, total)
    return window.total - total <= target
  end)
  local time = read_entry(window, index)
  return time + window.width
end

local function stamp(window, limit)
  local grain = grain_of(limit, window.width)
  local time = grain == 0 and now or math.ceil(now / grain) * grain
  -- Entries stay in order even if the server's clock went back or the limit changed.
  return math.max(time, window.last)
end

-- Time until remaining rises, including the granted new units, which expire last.
local function reset_in(window, limit, granted)
  local target = math.min(count_of(window) + granted, limit) - 1
  if target < 0 then return 0 end
  if target < granted then return stamp(window, limit) + window.width - now end
  return falls_to(window, target - granted) - now
end

local function allows_at(check, cost)
  local window = check.window
  local sustained = cost <= check.limit and falls_to(window, check.limit - cost) or math.huge
  if cost > check.burst then return math.huge end
  local fits = falls_to(window, check.burst - cost)
  local burst = fits - window.episode < check.span and fits or math.max(fits, window.episode + window.width)
  return math.min(sustained, burst)
end

local function judge_window(check)
  local window = check.window
  local count, since = count_of(window), now - window.episode
  local open = since >= window.width or since < check.span
  local free = math.max(0, (open and check.burst or check.limit) - count)
  local granted = free >= check.cost and check.cost or check.partial and free or 0
  local retry = granted > 0 and 0 or allows_at(check, check.partial and 1 or check.cost) - now
  local remaining = math.max(0, check.limit - count - granted)
  return granted > 0, granted, remaining, reset_in(window, check.limit, granted), retry
end

local function unused_window(check)
  return math.max(0, check.limit - count_of(check.window)), reset_in(check.window, check.limit, 0)
end

local function header_of(window)
  return struct.pack(HEADER_FORMAT, window.head, window.length, window.gone, window.first, window.upto,
    window.last, window.total, window.episode, window.grain, window.kept)
end

local function take_window(check)
  local window, key = check.window, check.key
  -- The unit that exceeds the limit opens an episode, unless one is open.
  if count_of(window) + check.granted > check.limit and now - window.episode >= window.width then
    window.episode = now
  end
  local time, before = stamp(window, check.limit), ''
  local from = HEADER + (window.length - 1) * ENTRY
  if window.last ~= time then
    if window.length > window.head then before = struct.pack(ENTRY_FORMAT, window.last, window.total) end
    window.length = window.length + 1
  end
  window.last, window.total = time, window.total + check.granted
  if window.length == window.head + 1 then window.first, window.upto = time, window.total end
  -- Trims expired entries once they are the larger part, so the string is at most twice its live size.
  if window.head > 16 and window.head * 2 > window.length then
    before = redis.call('GETRANGE', key, HEADER + window.head * ENTRY, from - 1) .. before
    window.head, window.length, from, window.anew = 0, window.length - window.head, HEADER, true
  end
  -- A second of slack plus a quarter of the window, so that most calls need not set it.
  local ends = time + window.width + 1000000
  local extend = window.anew or ends > window.kept
  if extend then window.kept = ends + window.width / 4 end
  window.grain = grain_of(check.limit, window.width)
  local header = header_of(window)
  if window.anew then
    redis.call('SET', key, header .. before, 'PX', math.ceil((window.kept - now) / 1000))
    window.anew = false
    return
  end
  redis.call('SETRANGE', key, 0, header)
  if before ~= '' then redis.call('SETRANGE', key, from, before) end
  if extend then redis.call('PEXPIRE', key, math.ceil((window.kept - now) / 1000)) end
end

-- Takes back the youngest units.
local function refund_window(key, width, units)
  local window = load_window(key, { width = width })
  if window.anew then return end
  local left = window.total - units
  if left <= window.gone then
    -- Marks everything as expired: the next call rewrites the string.
    window.first, window.last = -math.huge, -math.huge
  else
    local youngest = first_entry(window, window.head, window.length, function(_, total) return total >= left end)
    window.last = read_entry(window, youngest)
    window.length, window.total = youngest + 1, left
    if youngest == window.head then window.upto = left end
  end
  redis.call('SETRANGE', key, 0, header_of(window))
end
`
