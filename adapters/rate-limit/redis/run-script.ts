import { DECIDE } from './decide-script.ts'
import { HOLDS } from './hold-scripts.ts'
import { PLAIN } from './plain-script.ts'
import { NOW, TIMES } from './window-script.ts'

/**
 * Runs all operations of one turn of the event loop: several sets of equal calls, in order.
 *
 * ARGV: the time in milliseconds (empty: the server's clock); then per set its verb, its number of keys, calls and
 * values, and the values: those that the calls share, then the tokens of each. KEYS: the keys of the sets in order. The
 * reply has one text per set. A text that begins with `!` is the error of that set alone. A server that is no longer
 * the primary fails the whole run with that error, so that the connection is replaced.
 */
export const RUN: string = `
${NOW}
${TIMES}
${PLAIN}

-- The functions of the general path are created on first use.
local general
local function make_general()
  ${DECIDE}
  return { judge = judge, refund = refund }
end

local verbs = {}
function verbs.consume(first_key, keys, calls, at)
  local reply = judge_plain(first_key, keys, calls, at)
  if reply then return reply end
  general = general or make_general()
  return general.judge(true, first_key, keys, calls, at)
end
function verbs.peek(first_key, keys, calls, at)
  general = general or make_general()
  return general.judge(false, first_key, keys, calls, at)
end
function verbs.refund(first_key, _, calls, at)
  general = general or make_general()
  return general.refund(KEYS[first_key], calls, at)
end
${HOLDS}

local replies, at, first_key = {}, 2, 1
while at <= #ARGV do
  local keys, calls, values = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local done, reply = pcall(verbs[ARGV[at]], first_key, keys, calls, at + 4)
  if not done then
    local cause = type(reply) == 'table' and reply.err or tostring(reply)
    if string.find(cause, 'READONLY', 1, true) then return redis.error_reply('READONLY ' .. cause) end
    reply = '!' .. cause
  end
  replies[#replies + 1] = reply
  first_key, at = first_key + keys, at + 4 + values
end
return replies
`
