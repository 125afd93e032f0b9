-- records: leases, entries and memories, each read at most once and written at most once.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   one HGET a record; one ZRANGEBYLEX a look at the order, after writing what is pending

-- Looking at the order.

function ledger.first(band, above)
  ledger.flush()
  return call('zrangebylex', order, '[' .. band, '(' .. above, 'limit', '0', '1')[1]
end

-- Leases.

function ledger.lease_of(lease_id)
  local lease = ledger.leases[lease_id]
  if lease ~= nil then return lease end
  local text = not ledger.is_fresh and call('hget', records, 'l:' .. lease_id)
  if not text then
    ledger.leases[lease_id] = false
    return false
  end
  lease = parse_lease(lease_id, text)
  if not lease then ledger.corrupt('lease ' .. lease_id) end
  ledger.leases[lease_id] = lease
  return lease
end

function ledger.put_lease(lease)
  ledger.leases[lease.id] = lease
  ledger.dirty_leases[lease.id] = true
  ledger.is_dirty = true
  head.first_end = min(head.first_end, lease.ends)
  head.first_wall = min(head.first_wall, lease.ends_wall)
  head.longest = max(head.longest, lease.ttl)
end

function ledger.remove_lease(lease)
  ledger.place(lease, 'by_end', nil)
  ledger.place(lease, 'by_wall', nil)
  ledger.leases[lease.id] = false
  ledger.dirty_leases[lease.id] = true
  ledger.is_dirty = true
end

function ledger.first_lease(band, above)
  local member = ledger.first(band, above)
  local lease = member and ledger.lease_of(sub(member, 10))
  if not lease then ledger.corrupt('a lease that is listed is not there') end
  return lease
end

-- Entries.

function ledger.entry_of(ticket)
  local entry = ledger.entries[ticket]
  if entry == nil then
    local text = not ledger.is_fresh and call('hget', records, 't:' .. ticket)
    entry = text and parse_entry(ticket, text)
    if text and not entry then ledger.corrupt('ticket ' .. ticket) end
    ledger.entries[ticket] = entry
  end
  return entry
end

function ledger.put_entry(entry)
  ledger.entries[entry.ticket] = entry
  ledger.dirty_entries[entry.ticket] = true
  ledger.is_dirty = true
end

function ledger.remove_entry(entry)
  ledger.place(entry, 'by_lease', nil)
  ledger.place(entry, 'by_rank', nil)
  ledger.entries[entry.ticket] = false
  ledger.dirty_entries[entry.ticket] = true
  ledger.is_dirty = true
end

function ledger.first_entry(band, above, from)
  local member = ledger.first(band, above)
  if not member then return nil end
  local entry = ledger.entry_of(sub(member, from))
  if not entry then ledger.corrupt('a ticket that is listed is not there') end
  return entry
end

function ledger.first_member(lease_id)
  return ledger.first_entry('m' .. lease_id, 'm' .. lease_id .. '~', 34)
end

function ledger.first_waiter()
  return ledger.first_entry('q', 'r', 10)
end

-- What is remembered of series: the last number that was granted or ended, until when, how many of it hold, and why
-- those numbers ended that were not simply released.

function ledger.series_of(ticket)
  return sub(ticket, 1, 24) .. '00000000'
end

function ledger.number_of(ticket)
  return tonumber(sub(ticket, 25), 16)
end

function ledger.parse_memory(series, text)
  if #text < 24 or match(text, '[^%d%l= ]', 25) then return nil end
  local last, till, open = read(MEMORY, text)
  local memory = { series = series, last = last, ['until'] = till, open = open, ends = {} }
  for number, cause in string.gmatch(sub(text, 25), '(%d+)=(%l+) ') do
    memory.ends[#memory.ends + 1] = { number + 0, cause }
  end
  if open == 0 then memory.by_end = pack(MEMBER, 'p', till, series) end
  return memory
end

function ledger.memory_of(series)
  local memory = ledger.memories[series]
  if memory ~= nil then return memory end
  local text = head.past > 0 and call('hget', records, 's:' .. series)
  memory = text and ledger.parse_memory(series, text)
  if text and not memory then ledger.corrupt('series ' .. series) end
  ledger.memories[series] = memory
  return memory
end

function ledger.put_memory(memory)
  ledger.memories[memory.series] = memory
  ledger.dirty_memories[memory.series] = true
  ledger.is_dirty = true
  if memory.open == 0 then head.first_past = min(head.first_past, memory['until']) end
  head.memory = max(head.memory, memory['until'])
end

function ledger.remove_memory(memory)
  ledger.place(memory, 'by_end', nil)
  ledger.memories[memory.series] = false
  ledger.dirty_memories[memory.series] = true
  ledger.is_dirty = true
end
