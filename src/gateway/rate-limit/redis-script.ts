import { SEGMENTS } from './sliding-window.js';
import { ROUNDING } from './token-bucket.js';

/**
 * sliding-window.ts and token-bucket.ts as one script, which Redis runs as a whole: no other request comes between
 * the look and the spending.
 *
 * ARGV[1] is the time in milliseconds, -1 for Redis's own clock, the one clock all nodes agree on. Then for each key
 * three arguments: 'window', limit, window in milliseconds; or 'bucket', requests per minute, burst. Answers three
 * integers for each key: allowed, remaining, milliseconds until one more passes.
 *
 * A window is a hash of total, head and tail (numbers of the oldest and the newest segment), first (when the newest
 * began) and for each segment l<n> (its last request) and c<n> (its count). A bucket is a hash of tokens and at.
 */
export const TAKE_SCRIPT = `
local SEGMENTS, ROUNDING = ${SEGMENTS}, ${ROUNDING}
local now = tonumber(ARGV[1])
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function window(key, limit, length)
  local stored = redis.call('HMGET', key, 'total', 'head', 'tail', 'first')
  local total, head, tail = tonumber(stored[1]) or 0, tonumber(stored[2]) or 1, tonumber(stored[3]) or 0
  local first, oldest, before = tonumber(stored[4]) or 0, now, head
  while head <= tail do
    local segment = redis.call('HMGET', key, 'l' .. head, 'c' .. head)
    local last = tonumber(segment[1])
    if last > now - length and last <= now + length then oldest = last break end
    total = total - tonumber(segment[2])
    redis.call('HDEL', key, 'l' .. head, 'c' .. head)
    head = head + 1
  end
  if head ~= before then redis.call('HSET', key, 'total', total, 'head', head) end
  local frees = math.min(length, math.max(1, oldest + length - now))
  return total < limit, math.max(0, limit - total - 1), frees, function()
    if head <= tail and now - first < length / SEGMENTS then
      local last = math.max(now, tonumber(redis.call('HGET', key, 'l' .. tail)))
      redis.call('HSET', key, 'total', total + 1, 'l' .. tail, last)
      redis.call('HINCRBY', key, 'c' .. tail, 1)
    else
      tail = tail + 1
      redis.call('HSET', key, 'total', total + 1, 'head', head, 'tail', tail, 'first', now, 'l' .. tail, now, 'c' .. tail, 1)
    end
    redis.call('PEXPIRE', key, length)
  end
end

local function bucket(key, perMinute, burst)
  local stored = redis.call('HMGET', key, 'tokens', 'at')
  local tokens = burst
  if stored[1] then
    local at = tonumber(stored[2])
    if now < at then
      at = now
      redis.call('HSET', key, 'at', at)
    end
    tokens = math.min(burst, tonumber(stored[1]) + (now - at) * perMinute / 60000)
  end
  local allowed = tokens + ROUNDING >= 1
  local left = allowed and tokens - 1 or tokens
  local whole = math.floor(left + ROUNDING)
  local frees = math.max(1, math.ceil((whole + 1 - left) * 60000 / perMinute - ROUNDING))
  return allowed, math.max(0, whole), frees, function()
    redis.call('HSET', key, 'tokens', left, 'at', now)
    redis.call('PEXPIRE', key, math.ceil((burst - left) * 60000 / perMinute) + 1000)
  end
end

local answer, spends, pass = {}, {}, true
for index, key in ipairs(KEYS) do
  local count = ARGV[3 * index - 1] == 'window' and window or bucket
  local allowed, remaining, frees, spend = count(key, tonumber(ARGV[3 * index]), tonumber(ARGV[3 * index + 1]))
  pass = pass and allowed
  spends[index] = spend
  answer[#answer + 1] = allowed and 1 or 0
  answer[#answer + 1] = remaining
  answer[#answer + 1] = frees
end
if pass then for _, spend in ipairs(spends) do spend() end end
return answer
`;
