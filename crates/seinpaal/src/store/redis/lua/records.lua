-- records: leases, entries and tickets that are over, each read at most once and written at most once.
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

-- Tickets that are over.

function ledger.past_of(ticket)
  local past = ledger.pasts[ticket]
  if past ~= nil then return past end
  local text = head.past > 0 and call('hget', records, 'p:' .. ticket)
  if not text then
    ledger.pasts[ticket] = false
    return false
  end
  local cause = match(text, '^%a+$', 9)
  if not cause then ledger.corrupt('ticket ' .. ticket) end
  past = { ticket = ticket, cause = cause, ['until'] = read('<d', text) }
  past.by_end = pack(MEMBER, 'p', past['until'], ticket)
  ledger.pasts[ticket] = past
  return past
end

function ledger.put_past(past)
  ledger.pasts[past.ticket] = past
  ledger.dirty_pasts[past.ticket] = true
  ledger.is_dirty = true
  head.first_past = min(head.first_past, past['until'])
  head.memory = max(head.memory, past['until'])
end

function ledger.remove_past(past)
  ledger.place(past, 'by_end', nil)
  ledger.pasts[past.ticket] = false
  ledger.dirty_pasts[past.ticket] = true
  ledger.is_dirty = true
end
