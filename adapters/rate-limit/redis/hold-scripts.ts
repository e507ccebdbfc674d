/** Verbs with one key, and one token or value per call. */
export const HOLDS = `
-- Pauses for a number of milliseconds. A longer pause stays.
function verbs.pause(first_key, _, _, at)
  local key, ms = KEYS[first_key], tonumber(ARGV[at])
  local ends = now + ms * 1000
  if ends > tonumber(redis.call('GET', key) or 0) then
    redis.call('SET', key, text(ends))
    keep(key, ends - now)
  end
  return '1'
end

-- Extends slots to a number of milliseconds from now. 0: the slot has expired.
function verbs.renew(first_key, _, calls, at)
  local key, lease, reply = KEYS[first_key], tonumber(ARGV[at]) * 1000, {}
  for call = 1, calls do
    local token = ARGV[at + call]
    local held = tonumber(redis.call('ZSCORE', key, token) or 0) > now
    if held then
      redis.call('ZADD', key, text(now + lease), token)
      keep(key, lease)
    end
    reply[call] = held and '1' or '0'
  end
  return table.concat(reply, ' ')
end

-- Releases slots.
function verbs.release(first_key, _, calls, at)
  redis.call('ZREM', KEYS[first_key], unpack(ARGV, at, at + calls - 1))
  return '1'
end
`
