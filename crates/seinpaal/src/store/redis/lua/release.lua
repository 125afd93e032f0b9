-- release: give back the permits of a ticket, or only some slots of it.
-- keys   records order
-- args   ticket slots
-- reply  released ended unknown
-- cost   uncontended: HGET head, entry, lease and past, one HDEL, ZREM, HSET, ZADD
--
-- slots: all, or text like 0-2,5

-- Naming slots, and not how many, makes it safe to send twice.
local function release_some(entry, some)
  local kept, taken = slots_take(slots_of(entry.slots), some)
  if #kept == 0 then
    release_all(entry, 'released')
    return format('released %s 0', entry.ticket)
  end
  entry.slots = slots_text(kept)
  entry.permits = entry.permits - slots_count(taken)
  local left = entry.permits
  put_entry(entry)
  free_slots(taken)
  settle()
  return format('released %s %d', entry.ticket, left)
end

local function release(ticket, some)
  local entry = entry_of(ticket)
  if not entry then
    local cause = cause_of(ticket)
    return cause and 'ended ' .. ticket .. ' ' .. cause or 'unknown ' .. ticket
  end
  if some and entry.fence then return release_some(entry, some) end
  release_all(entry, 'released')
  return format('released %s 0', ticket)
end

operations.release = function(text)
  local ticket, slots = match(text, '^(%S+) (%S+)$')
  id(ticket, 'the ticket')
  if slots ~= 'all' and not match(slots, '^[%d,-]*$') then refuse('SEINPAALARGUMENT', 'slots cannot be read') end
  local some = slots ~= 'all' and slots_of(slots)
  return function() return release(ticket, some) end
end
