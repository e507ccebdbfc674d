/**
 * `now` in microseconds, whole, so that arithmetic on times is exact: ARGV[1] in milliseconds, or the server's time.
 * Scripts replicate their effects, so asking for the time before writing is allowed.
 */
export const CLOCK = `
local now = tonumber(ARGV[1])
if now then
  now = now * 1000
else
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function text(number) return string.format('%.17g', number) end

-- A second of slack: a key must not go before what is in it has run out.
local function keep(key, us)
  local ms = math.ceil(us / 1000) + 1000
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, text(ms)) end
end
`

/**
 * A window is one string: a header, then entries in the order of time, each the time of some units and the running
 * total up to and with them. The count of a window is the difference of two totals, and when it will have fallen to a
 * number is found by halving: exact, with 16 bytes an entry and a dozen short reads at most.
 *
 * As in memory, units of one time share an entry, and above a limit of 1024 those of a 6000th of the window: never
 * too many, at most that much too late.
 */
export const WINDOW = `
local HEADER, ENTRY = 56, 16
local HEADER_FORMAT, ENTRY_FORMAT = '<ddddddd', '<dd'

local function read_entry(window, index)
  local from = HEADER + index * ENTRY
  return struct.unpack(ENTRY_FORMAT, redis.call('GETRANGE', window.key, from, from + ENTRY - 1))
end

-- The least index in [low, high) for which holds(time, total), which holds from there on; high, if none.
local function first_entry(window, low, high, holds)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if holds(read_entry(window, middle)) then high = middle else low = middle + 1 end
  end
  return low
end

-- head: entries before it have expired; gone: the total up to there; last: the time of the youngest entry.
local function load_window(key, check)
  local window = { key = key, width = check.width }
  local header = redis.call('GETRANGE', key, 0, HEADER - 1)
  if #header == HEADER then
    window.head, window.length, window.gone, window.total, window.last, window.episode, window.grain =
      struct.unpack(HEADER_FORMAT, header)
  end
  if #header ~= HEADER or window.last + window.width <= now then
    window.head, window.length, window.gone, window.total, window.last = 0, 0, 0, 0, -math.huge
    window.grain = check.limit <= 1024 and 0 or window.width / 6000
    window.episode = window.episode or -math.huge
    window.anew = true
    return window
  end
  local function alive(time) return time + window.width > now end
  if not alive((read_entry(window, window.head))) then
    window.head = first_entry(window, window.head + 1, window.length, alive)
    local _, total = read_entry(window, window.head - 1)
    window.gone = total
  end
  return window
end

local function count_of(window) return window.total - window.gone end

-- When the count will have fallen to target; now, if it has.
local function falls_to(window, target)
  if count_of(window) <= target then return now end
  if target < 0 then return math.huge end
  local index = first_entry(window, window.head, window.length, function(_, total)
    return window.total - total <= target
  end)
  if index == window.length then return math.huge end
  local time = read_entry(window, index)
  return time + window.width
end

local function stamp(window)
  local time = window.grain == 0 and now or math.ceil(now / window.grain) * window.grain
  -- The server's clock may have been set back: entries stay in order.
  return math.max(time, window.last)
end

-- How long until remaining rises, with so many new units, which expire last.
local function reset_in(window, limit, granted)
  local target = math.min(count_of(window) + granted, limit) - 1
  if target < 0 then return 0 end
  if target < granted then return stamp(window) + window.width - now end
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

local function take_window(check)
  local window, key = check.window, check.key
  -- The unit that goes above the limit opens an episode, unless one is open.
  if count_of(window) + check.granted > check.limit and now - window.episode >= window.width then
    window.episode = now
  end
  local time = stamp(window)
  window.total = window.total + check.granted
  if window.length == window.head or window.last ~= time then window.length = window.length + 1 end
  window.last = time
  local alive = ''
  local dropped = window.head
  -- What has expired is cut off when it is the larger part, so that the string stays within twice what is alive.
  local cut = not window.anew and dropped > 16 and dropped * 2 > window.length
  if cut then
    alive = redis.call('GETRANGE', key, HEADER + dropped * ENTRY, HEADER + (window.length - 1) * ENTRY - 1)
    window.head, window.length = 0, window.length - dropped
  end
  local header = struct.pack(HEADER_FORMAT, window.head, window.length, window.gone, window.total, window.last,
    window.episode, window.grain)
  local entry = struct.pack(ENTRY_FORMAT, time, window.total)
  if window.anew or cut then
    redis.call('SET', key, header .. alive .. entry)
    window.anew = false
  else
    redis.call('SETRANGE', key, 0, header)
    redis.call('SETRANGE', key, HEADER + (window.length - 1) * ENTRY, entry)
  end
  keep(key, window.width + window.grain)
end
`
