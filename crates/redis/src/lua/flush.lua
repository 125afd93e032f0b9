-- flush: writes the changes of a script: gives each record and entry its place, and sends all
--   changes together.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   one HDEL, ZREM, HSET and ZADD, each only if there is something for it
--
-- Removals go first. They free memory, and after one removal Redis lets a script write even when
-- memory is short. A script that only makes the name grow begins with the head instead, so that the
-- server refuses the whole script.

function ledger.place(object, slot, member)
  local old = object[slot]
  if old == member then return end
  if old then ledger.placed[old] = false end
  if member then ledger.placed[member] = true end
  object[slot] = member
end

-- Gives a lower bound, on the scale of passed, of the first end in a record. Neither the ledger's
-- clock nor the wall clock advances by more than passed does.
function ledger.due_of(record)
  local lease, memory, left = record.lease, record.memory, UNBOUNDED
  if lease then left = min(lease.ends - head.clock, lease.ends_wall - now) end
  if memory and memory.open == 0 then left = min(left, memory['until'] - head.clock) end
  return left < UNBOUNDED and max(floor(head.passed + left), 0) or UNBOUNDED
end

-- A listed bound may be too low, but never too high. A call that finds a bound too low corrects it,
-- so a renewal leaves the bound as it is.
function ledger.list(record, due)
  if not head.wide or due == UNBOUNDED then
    due = head.wide and record.listed or nil
  elseif record.listed and record.listed <= due then
    due = record.listed
  end
  record.listed = due
  ledger.place(record, 'by_due', due and pack(MEMBER, 'e', due, record.id) or nil)
end

function ledger.is_there(record)
  return record.lease or record.memory or next(record.tickets)
end

-- Tells whether a ticket may stand in the record of its lease, where one read finds both.
function ledger.has_room(entry, record)
  if not entry.fence or entry.lease ~= ledger.series_of(entry.ticket) or #entry.about > 255 then
    return false
  end
  local lease = record.lease
  if not lease or lease.inbox ~= entry.inbox or string.find(entry.slots, ',', 1, true) then
    return false
  end
  -- A value that was head and record had room for it.
  if entry.home == 'record' then return not record.is_crowded end
  if head.wide and next(record.tickets) then return false end
  local size = TICKET_SIZE + #entry.about
  for _, other in pairs(record.tickets) do size = size + TICKET_SIZE + #other.about end
  return size <= MOST_INLINE
end

function ledger.house(entry)
  local record = ledger.record_of(entry.lease)
  local home = ledger.has_room(entry, record) and 'record' or 'entry'
  if entry.home ~= home then
    if entry.home == 'entry' then ledger.vacate(entry) end
    if entry.home == 'record' then ledger.unlodge(entry) end
    if home == 'record' then record.tickets[entry.ticket] = entry else head.rows = head.rows + 1 end
    entry.home = home
  end
  if home == 'record' then
    ledger.dirty_records[entry.lease] = true
  else
    ledger.gone[entry.ticket] = nil
  end
  local is_by_itself = head.wide and home == 'entry'
  ledger.place(entry, 'by_lease', is_by_itself and 'm' .. entry.lease .. entry.ticket or nil)
  local rank = head.wide and entry.fence and pack(MEMBER, 'g', entry.fence, entry.ticket)
  if not entry.fence then
    rank = pack(MEMBER, entry.parked == '1' and 'k' or 'q', entry.rank + RANK_BIAS, entry.ticket)
  end
  ledger.place(entry, 'by_rank', rank or nil)
end

-- Takes a ticket out of the record of its series. It can be in no other record.
function ledger.unlodge(entry)
  local record = ledger.record_of(ledger.series_of(entry.ticket))
  record.tickets[entry.ticket] = nil
  ledger.dirty_records[record.id] = true
end

-- Takes an entry out of the hash.
function ledger.vacate(entry)
  ledger.gone[entry.ticket] = true
  head.rows = head.rows - 1
end

-- Finds the place of each changed ticket, and counts the rows of the hash.
function ledger.house_all()
  local unfit = {}
  for id in pairs(ledger.dirty_records) do
    local record = ledger.records[id]
    for ticket, entry in pairs(record.tickets) do
      if not ledger.has_room(entry, record) then unfit[#unfit + 1] = ticket end
    end
  end
  for _, ticket in ipairs(unfit) do ledger.dirty_entries[ticket] = true end
  for ticket in pairs(ledger.dirty_entries) do
    if ledger.entries[ticket] then ledger.house(ledger.entries[ticket]) end
  end
  for id in pairs(ledger.dirty_records) do
    local record = ledger.records[id]
    local is_there = ledger.is_there(record) and true or false
    if is_there ~= record.is_kept then head.rows = head.rows + (is_there and 1 or -1) end
    if is_there or record.is_kept then record.is_changed = true end
    record.is_kept = is_there
  end
end

-- Lists all rows in the order, because there are many now. From then on a record keeps only one
-- ticket, so that renewing it stays cheap.
function ledger.widen()
  ledger.load_all()
  head.wide = true
  for id, record in pairs(ledger.records) do
    if ledger.is_there(record) then ledger.dirty_records[id] = true end
    local first = next(record.tickets)
    record.is_crowded = first and next(record.tickets, first)
  end
  for ticket, entry in pairs(ledger.entries) do
    if entry then ledger.dirty_entries[ticket] = true end
  end
  ledger.house_all()
end

function ledger.collect(set, del)
  for ticket in pairs(ledger.dirty_entries) do
    local entry = ledger.entries[ticket]
    if entry and entry.home == 'entry' then
      set[#set + 1] = 't' .. ticket
      set[#set + 1] = pack_entry(entry)
    end
  end
  for ticket in pairs(ledger.gone) do del[#del + 1] = 't' .. ticket end
  for id in pairs(ledger.dirty_records) do
    local record = ledger.records[id]
    if record.is_kept then
      local due = ledger.due_of(record)
      head.due = min(head.due, due)
      ledger.list(record, due)
      set[#set + 1] = 'r' .. id
      set[#set + 1] = pack_record(record)
    elseif record.is_changed then
      ledger.place(record, 'by_due', nil)
      record.listed = nil
      del[#del + 1] = 'r' .. id
    end
    record.is_changed = false
  end
end

-- Writes the pending changes, with the head if the caller wants that or if the head must come
-- first.
function ledger.flush(with_head)
  if not ledger.is_dirty and not with_head then return end
  local set, del = {}, {}
  local is_growth = ledger.may_grow and not ledger.has_written
  ledger.house_all()
  if head.rows > MOST_ROWS and not head.wide then ledger.widen() end
  ledger.collect(set, del)
  if with_head or is_growth then
    if head.top <= head.held then head.spread = false end
    set[#set + 1] = 'h'
    set[#set + 1] = pack_head(head)
    if ledger.is_apart then del[#del + 1] = 'a' end
    ledger.is_apart = false
    if ledger.names_change == '' then del[#del + 1] = 's' end
    if (ledger.names_change or '') ~= '' then
      set[#set + 1] = 's'
      set[#set + 1] = ledger.names_change
    end
    ledger.names_change = nil
  end
  if ledger.is_fresh and not ledger.has_written then
    ledger.home = SETTLING and call('cluster', 'myid') .. ' 0'
    if ALWAYS_LISTED then ledger.placed.z = true end
  end
  if ledger.home then
    set[#set + 1] = 'n'
    set[#set + 1] = ledger.home
    ledger.home = nil
  end
  local add, remove = ledger.sort_placed()
  if is_growth then ledger.send('hset', records, set) end
  if not is_growth and not ledger.has_written and #del + #remove == 0 then
    call('hdel', records, '-')
  end
  ledger.send('hdel', records, del)
  ledger.send('zrem', order, remove)
  if not is_growth then ledger.send('hset', records, set) end
  ledger.send('zadd', order, add)
  ledger.has_removed = ledger.has_removed or #remove > 0
  ledger.dirty_records, ledger.dirty_entries, ledger.gone, ledger.placed, ledger.is_dirty =
    {}, {}, {}, {}, false
end
