-- start: checks the arguments, reads the head, and lets time pass.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing
-- cost   one HGET, and what settling costs

ledger.operations = {}
-- The inbox of the client that asks, or nothing for an operator, who has none.
ledger.me = asker ~= '' and asker or nil

function ledger.ttl_of(text, what)
  return ledger.number(text, MIN_TTL, MAX_TTL, what)
end

function ledger.permits_of(text, least, what)
  return ledger.number(text, least, MOST_PERMITS, what)
end

function ledger.start()
  if asker ~= '' then ledger.id(asker, 'the inbox') end
  local seen = ledger.number(packed_seen and format('%.0f', packed_seen) or fence_seen, 0,
    MOST_FENCE_SEEN, 'the fence seen')
  if given_now ~= '' then ledger.number(given_now, 0, UNBOUNDED, 'now') end
  ledger.read_head()
  advance_clock(head)
  ledger.is_due = head.passed >= head.due
  head.fence = max(head.fence, seen)
  ledger.settle()
end

-- Gives the cause of the end of a ticket that is not here, or false if the ledger does not know it.
function ledger.cause_of(ticket)
  local memory, number = ledger.memory_of(ledger.series_of(ticket)), ledger.number_of(ticket)
  if not memory or number > memory.last then return false end
  for _, ended in ipairs(memory.ends) do
    if ended[1] == number then return ended[2] end
  end
  return 'released'
end

-- A client may end its own grants and any waiting ticket. An operator may end any ticket.
function ledger.may_end(entry)
  return not entry.fence or not ledger.me or entry.inbox == ledger.me
end

-- Gives a ticket back. If another client has it, tells that client.
function ledger.release_all(entry, cause)
  if cause == 'released' and entry.fence then
    NOTE_HOLD{ head.recent, now - entry.since }
  end
  ledger.leave(entry)
  ledger.close(entry, cause)
  if entry.inbox ~= ledger.me then ledger.wake(entry, 'ended ' .. entry.ticket .. ' ' .. cause) end
  ledger.settle()
end
