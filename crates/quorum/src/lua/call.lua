-- A call of a node: what it is given, and the words in which it is told and answers.
--
-- KEYS: the hash of the name, its sorted set, and the hash of the node's restart guard.
-- ARGV: the clock if a test sets it, the inbox of the client that asks, the greatest fence that it
--   has seen, and one line for each operation: its word, a space, and its arguments. The first
--   line is `guard`, and the last is `state`.
-- The answer is a list: `done NOW BACKLOG`, and the answer to each line.
--
-- The files of this folder are one script, in the order in which node.rs names them. A call first
-- decides everything, and writes at its end. An error before that leaves the node as it was.
--
-- Times are microseconds. Lua's numbers are exact up to 2^53.

local records, order, marker = KEYS[1], KEYS[2], KEYS[3]
local call, try = redis.call, redis.pcall
local floor, max, min = math.floor, math.max, math.min
local format, match, sub = string.format, string.match, string.sub
local unpack = unpack or table.unpack

local UNBOUNDED, MOST_FENCE_SEEN = 2 ^ 53, 2 ^ 52
local SECOND, HALF_DAY, DAY = 1000000, 43200000000, 86400000000
local MIN_TTL, MAX_TTL = 100000, DAY
local MOST_PERMITS, MOST_COUNT, MOST_ABOUT = 1000000000, 2 ^ 32 - 1, 4096
local MOST_LINES, MOST_TICKETS = 140, 500

-- The client that asks, or nothing for an operator, who has no inbox.
local me = ARGV[2] ~= '' and ARGV[2] or nil
local now

-- Whether this call freed slots or took a waiter away, so that other waiters may fit.
local has_freed = false

local function refuse(code, what)
  error({ refusal = code .. ' ' .. what }, 0)
end

local function corrupt(what)
  refuse('SEINPAALCORRUPT', what)
end

-- Joins words with spaces. Numbers are whole, and are written in full.
local function words(...)
  local list = { ... }
  for i, word in ipairs(list) do
    if type(word) == 'number' then list[i] = format('%.0f', word) end
  end
  return table.concat(list, ' ')
end

local function number(text, least, most, what)
  local n = text and match(text, '^%d+$') and tonumber(text)
  if not n or n < least or n > most then
    refuse('SEINPAALARGUMENT',
      words(what, 'is', least, 'to', most) .. ', not ' .. sub(tostring(text), 1, 40))
  end
  return n
end

local function ttl_of(text, what)
  return number(text, MIN_TTL, MAX_TTL, what)
end

local function id_of(text, what)
  if not text or #text ~= 32 or match(text, '[^0-9a-f]') then
    refuse('SEINPAALARGUMENT', what .. ' is not 32 hexadecimal digits')
  end
  return text
end

-- Gives the deadline of a request, `-` for none.
local function deadline_of(text)
  return text ~= '-' and number(text, 0, UNBOUNDED, 'not-after') or UNBOUNDED
end

local function about_of(text)
  if #text > MOST_ABOUT then refuse('SEINPAALARGUMENT', 'about is too long') end
  return text
end

-- Reads the clock and the fence that the client has seen.
local function begin_call()
  if #ARGV - 3 > MOST_LINES then refuse('SEINPAALARGUMENT', 'too many lines') end
  if me then id_of(me, 'the inbox') end
  if ARGV[1] ~= '' then
    now = number(ARGV[1], 0, UNBOUNDED, 'now')
  else
    local time = call('time')
    now = time[1] * SECOND + time[2]
  end
  return number(ARGV[3], 0, MOST_FENCE_SEEN, 'the fence seen')
end
