-- start: checks the arguments, reads the head, and lets time pass.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing
-- cost   one HGET, and what settling costs

ledger.operations = {}

function ledger.ttl_of(text, what)
  return ledger.number(text, MIN_TTL, MAX_TTL, what)
end

function ledger.permits_of(text, least, what)
  return ledger.number(text, least, MOST_PERMITS, what)
end

function ledger.start()
  if asker ~= '' then ledger.id(asker, 'the inbox') end
  local seen = ledger.number(fence_seen, 0, MOST_FENCE_SEEN, 'the fence seen')
  if given_now ~= '' then ledger.number(given_now, 0, UNBOUNDED, 'now') end
  ledger.read_head()
  advance_clock(head)
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
