/**
 * The ordinary decision, and most of them: every check allows, no window goes above its limit, and nothing in one has run
 * out. What the rest of the script would answer and write follows from a few numbers then, and is answered and written
 * here, before a function of the rest is even made; everything else goes on below, with nothing written.
 */
export const PLAIN = `
local plain, at, found = ARGV[2] == 'consume', 3, {}
for index, key in ipairs(KEYS) do
  for before = 1, index - 1 do
    if KEYS[before] == key then plain = false end
  end
  if not plain then break end
  local kind = ARGV[at]
  if kind == 'window' then
    local limit, width, cost = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]) * 1000, tonumber(ARGV[at + 5])
    local header = redis.call('GETRANGE', key, 0, 79)
    plain = false
    if #header == 80 then
      local head, length, gone, first, upto, last, total, episode, grain, kept =
        struct.unpack('<dddddddddd', header)
      local count = total - gone + cost
      if first + width > now and count <= limit and count <= tonumber(ARGV[at + 3]) then
        plain = true
        found[index] = { head, length, gone, first, upto, last, total, episode, grain, kept, width, cost,
          limit - count }
      end
    end
    at = at + 7
  elseif kind == 'slots' then
    local held = redis.call('ZCARD', key)
    plain = held < tonumber(ARGV[at + 1])
    found[index] = { held, at }
    at = at + 4
  else
    plain = not redis.call('GET', key)
    at = at + 1
  end
end

if plain then
  local reply = ''
  for index, key in ipairs(KEYS) do
    local one = found[index]
    if not one then
      reply = reply .. '1 0 0 0 0 '
    elseif one[3] then
      local head, length, gone, first, upto, last, total, episode, grain, kept, width, cost, remaining = unpack(one)
      local time = math.max(last, grain == 0 and now or math.ceil(now / grain) * grain)
      if time ~= last then
        redis.call('SETRANGE', key, 80 + (length - 1) * 16, struct.pack('<dd', last, total))
        length = length + 1
      end
      total = total + cost
      if length == head + 1 then upto = total end
      local lasts = width + grain + 1000000
      local extend = now + lasts > kept
      if extend then kept = now + lasts + width / 4 end
      redis.call('SETRANGE', key, 0,
        struct.pack('<dddddddddd', head, length, gone, first, upto, time, total, episode, grain, kept))
      if extend then redis.call('PEXPIRE', key, math.ceil((kept - now) / 1000)) end
      reply = reply .. '1 ' .. cost .. ' ' .. remaining .. ' ' .. (first + width - now) .. ' 0 '
    else
      local held, limit, token, lease = one[1], ARGV[one[2] + 1], ARGV[one[2] + 2], ARGV[one[2] + 3]
      local gone = redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.17g', now))
      local new = redis.call('ZADD', key, string.format('%.17g', now + lease * 1000), token)
      -- A second of slack, and a quarter of the lease, so that most calls need not set it.
      if redis.call('PTTL', key) < lease + 1000 then
        redis.call('PEXPIRE', key, math.ceil(lease * 1.25) + 1000)
      end
      reply = reply .. '1 ' .. new .. ' ' .. (limit - (held - gone + new)) .. ' 0 0 '
    end
  end
  return reply
end
`
