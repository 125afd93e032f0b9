-- cancel: give up a ticket whatever has become of it, and refuse it should it still arrive.
-- keys   records order
-- args   ticket remember
-- reply  cancelled
-- cost   as release; of an unknown ticket: one HSET, one ZADD

local function cancel(ticket, time)
  local entry = entry_of(ticket)
  if entry then
    release_all(entry, 'cancelled')
  elseif not past_of(ticket) then
    remember(ticket, 'cancelled', time)
  end
  return 'cancelled ' .. ticket
end

operations.cancel = function(text)
  local ticket, remembered = match(text, '^(%S+) (%S+)$')
  id(ticket, 'the ticket')
  local time = number(remembered, 0, MAX_TTL, 'the time to remember')
  return function() return cancel(ticket, time) end
end
