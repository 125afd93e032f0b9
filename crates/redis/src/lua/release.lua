-- release: gives back the permits of a ticket, or only some of its slots.
-- keys   records order
-- args   ticket slots
-- reply  released ended unknown
-- cost   where the plain path gives up, HGET of head, entry, lease and memory, one HDEL, ZREM, HSET
--        and ZADD
--
-- slots: all, or text like 0-2,5.

-- The request names slots, and not their number, so it is safe to send twice.
function ledger.release_some(entry, some)
  local kept, taken = ledger.slots_take(ledger.slots_of(entry.slots), some)
  if #kept == 0 then
    ledger.release_all(entry, 'released')
    return format('released %s 0', entry.ticket)
  end
  entry.slots = ledger.slots_text(kept)
  entry.permits = entry.permits - ledger.slots_count(taken)
  local left = entry.permits
  ledger.put_entry(entry)
  ledger.free_slots(taken)
  ledger.settle()
  return format('released %s %d', entry.ticket, left)
end

function ledger.release(ticket, some)
  local entry = ledger.entry_of(ticket)
  if not entry then
    local cause = ledger.cause_of(ticket)
    return cause and 'ended ' .. ticket .. ' ' .. cause or 'unknown ' .. ticket
  end
  if not ledger.may_end(entry) then return 'ended ' .. ticket .. ' attached' end
  if some and entry.fence and entry.inbox == ledger.me then
    return ledger.release_some(entry, some)
  end
  ledger.release_all(entry, 'released')
  return format('released %s 0', ticket)
end

ledger.operations.release = function(text)
  local ticket, slots = match(text, '^(%S+) (%S+)$')
  ledger.id(ticket, 'the ticket')
  if slots ~= 'all' and not match(slots, '^[%d,-]*$') then
    ledger.refuse('SEINPAALARGUMENT', 'slots cannot be read')
  end
  local some = slots ~= 'all' and ledger.slots_of(slots)
  return function() return ledger.release(ticket, some) end
end
