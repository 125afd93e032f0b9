-- start: checks the arguments, reads the clock and the head, and lets time pass.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing
-- cost   one TIME, one HGET, and what settling costs

local MIN_TTL, MAX_TTL, MOST_PERMITS, MOST_ABOUT = 100000, 86400000000, 1000000000, 4096
local operations = {}

local function ttl_of(text, what)
  return number(text, MIN_TTL, MAX_TTL, what)
end

local function permits_of(text, least, what)
  return number(text, least, MOST_PERMITS, what)
end

-- `now` is given only by tests.
local function read_clock()
  if given_now ~= '' then
    now = number(given_now, 0, UNBOUNDED, 'now')
  else
    local time = call('time')
    now = time[1] * 1000000 + time[2]
  end
end

-- A clock that jumps forward ends no lease whose holder is alive, one that jumps backward delays nothing.
local function advance_clock()
  local passed = max(now - head.wall, 0)
  head.wall = now
  head.clock = head.clock + min(passed, head.bound)
end

local function start()
  if asker ~= '' then id(asker, 'the inbox') end
  local seen = number(fence_seen, 0, 4503599627370496, 'the fence seen')
  read_clock()
  read_head()
  advance_clock()
  head.fence = max(head.fence, seen)
  settle()
end

-- How a ticket that is not here has ended, or false.
local function cause_of(ticket)
  local past = past_of(ticket)
  return past and past.cause
end

local function release_all(entry, cause)
  leave(entry)
  remember(entry.ticket, cause, entry.ttl)
  settle()
end
