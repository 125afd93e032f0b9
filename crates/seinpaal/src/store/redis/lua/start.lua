-- start: checks the arguments, reads the clock and the head, and lets time pass.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing
-- cost   one TIME, one HGET, and what settling costs

local MIN_TTL, MAX_TTL, MOST_PERMITS, MOST_ABOUT = 100000, 86400000000, 1000000000, 4096
ledger.operations = {}

function ledger.ttl_of(text, what)
  return ledger.number(text, MIN_TTL, MAX_TTL, what)
end

function ledger.permits_of(text, least, what)
  return ledger.number(text, least, MOST_PERMITS, what)
end

-- `now` is given only by tests.
function ledger.read_clock()
  if given_now ~= '' then
    now = ledger.number(given_now, 0, UNBOUNDED, 'now')
  else
    local time = call('time')
    now = time[1] * 1000000 + time[2]
  end
end

-- A clock that jumps forward ends no lease whose holder is alive, one that jumps backward delays nothing.
function ledger.advance_clock()
  local passed = max(now - head.wall, 0)
  head.wall = now
  head.clock = head.clock + min(passed, head.bound)
end

function ledger.start()
  if asker ~= '' then ledger.id(asker, 'the inbox') end
  local seen = ledger.number(fence_seen, 0, 4503599627370496, 'the fence seen')
  ledger.read_clock()
  ledger.read_head()
  ledger.advance_clock()
  head.fence = max(head.fence, seen)
  ledger.settle()
end

-- How a ticket that is not here has ended, or false.
function ledger.cause_of(ticket)
  local past = ledger.past_of(ticket)
  return past and past.cause
end

function ledger.release_all(entry, cause)
  ledger.leave(entry)
  ledger.remember(entry.ticket, cause, entry.ttl)
  ledger.settle()
end
