-- cancel: give up a ticket whatever has become of it, and refuse it should it still arrive.
-- keys   records order
-- args   ticket remember
-- reply  cancelled
-- cost   as release; of an unknown ticket: one HSET, one ZADD

function ledger.cancel(ticket, time)
  local entry = ledger.entry_of(ticket)
  if entry then
    ledger.release_all(entry, 'cancelled')
  elseif not ledger.past_of(ticket) then
    ledger.remember(ticket, 'cancelled', time)
  end
  return 'cancelled ' .. ticket
end

ledger.operations.cancel = function(text)
  local ticket, remembered = match(text, '^(%S+) (%S+)$')
  ledger.id(ticket, 'the ticket')
  local time = ledger.number(remembered, 0, MAX_TTL, 'the time to remember')
  return function() return ledger.cancel(ticket, time) end
end
