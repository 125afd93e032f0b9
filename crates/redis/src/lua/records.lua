-- records: keeps leases, entries and memories, and reads and writes each at most once.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   one HGET for each record; one ZRANGEBYLEX for each look at the order, after writing what
--        is pending
--
-- A name with few rows has only its waiters in the order. Reading all its rows finds the first end.

local MOST_LOADED = 512

-- Looking at the order.

function ledger.first(band, above)
  ledger.flush()
  return call('zrangebylex', order, '[' .. band, '(' .. above, 'limit', '0', '1')[1]
end

-- Records.

-- Notes the members under which `house` has listed an entry.
function ledger.adopt(entry)
  if head.wide and entry.home == 'entry' then
    entry.by_lease = 'm' .. entry.lease .. entry.ticket
  end
  if not entry.fence then
    entry.by_rank = pack(MEMBER, entry.parked == '1' and 'k' or 'q', entry.rank + RANK_BIAS,
      entry.ticket)
  elseif head.wide then
    entry.by_rank = pack(MEMBER, 'g', entry.fence, entry.ticket)
  end
  ledger.entries[entry.ticket] = entry
end

function ledger.keep_record(id, text)
  local record = parse_record(id, text)
  if not record then ledger.corrupt('record ' .. id) end
  ledger.records[id] = record
  for _, entry in pairs(record.tickets) do ledger.adopt(entry) end
  return record
end

function ledger.record_of(id)
  local record = ledger.records[id]
  if record then return record end
  local text = not ledger.is_fresh and call('hget', records, 'r' .. id)
  if text then return ledger.keep_record(id, text) end
  record = { id = id, lease = false, memory = false, tickets = {}, is_kept = false }
  ledger.records[id] = record
  return record
end

function ledger.touch(record)
  ledger.dirty_records[record.id] = true
  ledger.is_dirty = true
end

-- Reads all rows. Only a name with few rows is read like this.
function ledger.load_all()
  if ledger.is_loaded or ledger.is_fresh then return end
  ledger.is_loaded = true
  local all = call('hgetall', records)
  for i = 1, #all, 2 do
    local kind, id, text = sub(all[i], 1, 1), sub(all[i], 2), all[i + 1]
    if kind == 'r' and not ledger.records[id] then ledger.keep_record(id, text) end
    if kind == 't' and ledger.entries[id] == nil then ledger.keep_entry(id, text) end
  end
end

-- Loads the records whose bound is not after till, and some more, so that not every call has to.
-- Bounds that are too low are corrected.
function ledger.load_listed(till, least)
  local after, count = '[e', 0
  while count < max(MOST_LOADED, least) do
    local members = call('zrangebylex', order, after, '(f', 'limit', '0', '64')
    for _, member in ipairs(members) do ledger.load_member(member) end
    count = count + #members
    if #members < 64 then
      ledger.next_due = UNBOUNDED
      return
    end
    after = '(' .. members[64]
    local _, bound = read(MEMBER, members[64])
    ledger.next_due = bound
    if bound > till and count >= least then return end
  end
  ledger.has_backlog = true
end

function ledger.load_member(member)
  local _, bound, id = read(MEMBER, member)
  local record = ledger.record_of(id)
  if not record.is_kept and not ledger.dirty_records[id] then
    ledger.corrupt('a record that is listed is not there')
  end
  local due = ledger.due_of(record)
  if record.by_due == member and due > bound then
    record.listed = nil
    ledger.touch(record)
  end
end

-- Loads all records in which a lease or a memory may end by then.
function ledger.load_until(till, least)
  least = least or 0
  if ledger.loaded_till and till <= ledger.loaded_till and least == 0 then return end
  ledger.loaded_till, ledger.next_due = till, UNBOUNDED
  if head.wide then ledger.load_listed(till, least) else ledger.load_all() end
end

-- Makes the bound in the head exact again.
function ledger.sharpen()
  if ledger.is_due then ledger.load_until(head.passed) end
  if not ledger.loaded_till then return end
  head.due = ledger.next_due
  for _, record in pairs(ledger.records) do
    if ledger.is_there(record) then head.due = min(head.due, ledger.due_of(record)) end
  end
end

-- Gives the records that have a time by find, in the order of those times.
function ledger.sorted(find)
  local list = {}
  for id, record in pairs(ledger.records) do
    local at = find(record)
    if at then list[#list + 1] = { at, id, record } end
  end
  table.sort(list, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
  end)
  return list
end

-- Leases.

function ledger.lease_of(lease_id)
  return ledger.record_of(lease_id).lease
end

function ledger.put_lease(lease)
  local record = ledger.record_of(lease.id)
  record.lease = lease
  ledger.touch(record)
  head.longest = max(head.longest, lease.ttl)
end

function ledger.remove_lease(lease)
  local record = ledger.record_of(lease.id)
  record.lease = false
  ledger.touch(record)
end

-- Gives when the first lease ends, or any later time if that is more than `most` from now.
function ledger.first_end(most)
  local first = head.clock + most
  if head.due - head.passed >= most then return first end
  ledger.load_until(head.passed + most)
  for _, record in pairs(ledger.records) do
    if record.lease then first = min(first, record.lease.ends) end
  end
  return first
end

-- Entries.

function ledger.keep_entry(ticket, text)
  local entry = parse_entry(ticket, text)
  if not entry then ledger.corrupt('ticket ' .. ticket) end
  ledger.adopt(entry)
  return entry
end

function ledger.entry_of(ticket)
  local entry = ledger.entries[ticket]
  if entry ~= nil or ledger.is_fresh then return entry end
  ledger.record_of(ledger.series_of(ticket))
  if ledger.entries[ticket] then return ledger.entries[ticket] end
  local text = call('hget', records, 't' .. ticket)
  ledger.entries[ticket] = text and ledger.keep_entry(ticket, text) or false
  return ledger.entries[ticket]
end

function ledger.put_entry(entry)
  ledger.entries[entry.ticket] = entry
  ledger.dirty_entries[entry.ticket] = true
  ledger.is_dirty = true
end

function ledger.remove_entry(entry)
  ledger.place(entry, 'by_lease', nil)
  ledger.place(entry, 'by_rank', nil)
  if entry.home == 'entry' then ledger.vacate(entry) end
  if entry.home == 'record' then ledger.unlodge(entry) end
  entry.home = nil
  ledger.entries[entry.ticket] = false
  ledger.is_dirty = true
end

function ledger.first_entry(band, above, from)
  local member = ledger.first(band, above)
  if not member then return nil end
  local entry = ledger.entry_of(sub(member, from))
  if not entry then ledger.corrupt('a ticket that is listed is not there') end
  return entry
end

-- Gives the lowest ticket under a lease, so that tickets end in an order that does not depend on
-- how they are stored.
function ledger.first_member(lease_id)
  local first = head.wide and ledger.first_entry('m' .. lease_id, 'm' .. lease_id .. '~', 34) or nil
  if not head.wide then ledger.load_all() end
  for _, entry in pairs(ledger.entries) do
    if entry and entry.lease == lease_id and (not first or entry.ticket < first.ticket) then
      first = entry
    end
  end
  return first
end

function ledger.first_waiter()
  if head.waiting == 0 then return nil end
  return ledger.first_entry('q', 'r', 10)
end

-- Gives the members of the holders in the order of their grants. A name that is not wide does not
-- list them, so they are made here.
function ledger.holders_listed(rows)
  if head.wide then
    return call('zrangebylex', order, '[g', '(h', 'limit', '0', format('%d', rows))
  end
  ledger.load_all()
  local holders, members = {}, {}
  for _, entry in pairs(ledger.entries) do
    if entry and entry.fence then holders[#holders + 1] = entry end
  end
  -- Fences are compared as numbers: Lua compares strings in the order of the server's locale.
  table.sort(holders, function(a, b) return a.fence < b.fence end)
  for i = 1, min(#holders, rows) do
    members[i] = pack(MEMBER, 'g', holders[i].fence, holders[i].ticket)
  end
  return members
end

-- The memory of a series has the last number that was granted or ended, the time until which it is
-- kept, the number of tickets of the series that hold, and the causes of the numbers that were not
-- simply released.

function ledger.series_of(ticket)
  return sub(ticket, 1, 24) .. '00000000'
end

function ledger.number_of(ticket)
  return tonumber(sub(ticket, 25), 16)
end

function ledger.memory_of(series)
  return ledger.record_of(series).memory
end

function ledger.put_memory(memory)
  local record = ledger.record_of(memory.series)
  record.memory = memory
  ledger.touch(record)
  head.memory = max(head.memory, memory['until'])
end

function ledger.remove_memory(memory)
  local record = ledger.record_of(memory.series)
  record.memory = false
  ledger.touch(record)
end
