-- state: what is kept of one name, and how it is read and written.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing; the pieces after this one build on it
-- error  SEINPAALCORRUPT SEINPAALFORMAT SEINPAALTORN SEINPAALARGUMENT SEINPAALOOM
-- cost   one HGET a record, one ZRANGEBYLEX a look at the order; all writes in one go at the end
--
-- records (hash)  h: the head  n: in a cluster, the node where the name is at home, and until when it settles there
--                  l:LEASE: a lease  t:TICKET: an entry  s:SERIES: what is remembered of it
-- order (zset, all scores 0)  one letter and numbers of eight bytes or ids:
--   e END LEASE  w WALLEND LEASE  m LEASE TICKET  g FENCE TICKET  q RANK TICKET  k RANK TICKET (parked)
--   p UNTIL SERIES (of which nothing is held)  f FIRST LAST (free slots)
--   z (so that the key, and its TTL, outlive the last member)
-- Times are microseconds. Lua's numbers are exact to 2^53; only strings go to commands, because Redis
-- formats numbers slowly and, above 2^31, not always as integers.

-- Functions and state are fields of this table: for each local that a function captures, Lua walks all that
-- are captured, and a hundred of them cost more than everything else that a call does. What is captured most
-- stands last, where the walk begins.
local ledger = {
  leases = {}, entries = {}, memories = {}, dirty_leases = {}, dirty_entries = {}, dirty_memories = {}, placed = {},
  is_dirty = false, has_written = false, is_fresh = false, may_grow = true, had_free_slots = false,
}
local head

function ledger.refuse(code, what)
  error({ refusal = code .. ' ' .. what }, 0)
end

function ledger.corrupt(what)
  ledger.refuse('SEINPAALCORRUPT', what)
end

function ledger.number(text, least, most, what)
  local n = text and match(text, '^%-?%d+$') and tonumber(text)
  if not n or n < least or n > most then
    ledger.refuse('SEINPAALARGUMENT', what .. ' is ' .. format('%.0f', least) .. ' to ' .. format('%.0f', most)
      .. ', not ' .. sub(tostring(text), 1, 40))
  end
  return n
end

function ledger.id(text, what)
  if not text or #text ~= 32 or match(text, '[^0-9a-f]') then
    ledger.refuse('SEINPAALARGUMENT', what .. ' is not 32 hexadecimal digits')
  end
  return text
end

-- A head begins with the number of its format.
function ledger.unreadable(text)
  local written = string.byte(text) or 0
  if written > 0 and written < 32 and written ~= VERSION then
    ledger.refuse('SEINPAALFORMAT', format('written in format %d, and this program reads format %d', written, VERSION))
  end
  ledger.corrupt('the head of the name')
end

-- Nobody's key is taken for ours: without a head, nothing may be there but an order whose records were
-- evicted or deleted, and that is dropped.
function ledger.start_afresh()
  ledger.is_fresh = true
  head = blank_head()
  if call('exists', records, order) == 0 then return end
  if call('exists', records) == 1 or call('type', order).ok ~= 'zset' then
    ledger.corrupt('the key is somebody else\'s')
  end
  if call('zrangebylex', order, '[z', '[z')[1] ~= 'z' then ledger.corrupt('the key is somebody else\'s') end
  call('unlink', order)
end

function ledger.read_head()
  local text = call('hget', records, 'h')
  if text then
    head = parse_head(text) or ledger.unreadable(text)
  else
    ledger.start_afresh()
  end
  ledger.had_free_slots = head.top > head.held
end

-- Writing. Removals go first: they free memory, and after one Redis lets a script write also when memory
-- is short. A script that only makes the name grow begins with the head instead, and so is refused whole.

function ledger.send(command, key, list)
  for from = 1, #list, 1000 do
    call(command, key, unpack(list, from, min(from + 999, #list)))
    ledger.has_written = true -- only now: the first may be refused, and then nothing is torn
  end
end

function ledger.place(object, slot, member)
  local old = object[slot]
  if old == member then return end
  if old then ledger.placed[old] = false end
  if member then ledger.placed[member] = true end
  object[slot] = member
end

function ledger.pack_lease(lease)
  ledger.place(lease, 'by_end', pack(MEMBER, 'e', lease.ends, lease.id))
  ledger.place(lease, 'by_wall', pack(MEMBER, 'w', lease.ends_wall, lease.id))
  return pack_lease(lease)
end

function ledger.pack_entry(entry)
  ledger.place(entry, 'by_lease', 'm' .. entry.lease .. entry.ticket)
  if entry.fence then
    ledger.place(entry, 'by_rank', pack(MEMBER, 'g', entry.fence, entry.ticket))
  else
    local band = entry.parked == '1' and 'k' or 'q'
    ledger.place(entry, 'by_rank', pack(MEMBER, band, entry.rank + RANK_BIAS, entry.ticket))
  end
  return pack_entry(entry)
end

function ledger.pack_memory(memory)
  ledger.place(memory, 'by_end', memory.open == 0 and pack(MEMBER, 'p', memory['until'], memory.series) or nil)
  local ends = {}
  for i, ended in ipairs(memory.ends) do ends[i] = format('%d=%s ', ended[1], ended[2]) end
  return pack(MEMORY, memory.last, memory['until'], memory.open) .. table.concat(ends)
end

function ledger.collect(dirty, kind, objects, write, set, del)
  for key in pairs(dirty) do
    local object = objects[key]
    if object then
      set[#set + 1] = kind .. key
      set[#set + 1] = write(object)
    else
      del[#del + 1] = kind .. key
    end
  end
end

-- Writes what is pending, and the head with it if that is asked for or has to come first.
function ledger.flush(with_head)
  if not ledger.is_dirty and not with_head then return end
  local set, del, add, remove = {}, {}, {}, {}
  local is_growth = ledger.may_grow and not ledger.has_written
  ledger.collect(ledger.dirty_leases, 'l:', ledger.leases, ledger.pack_lease, set, del)
  ledger.collect(ledger.dirty_entries, 't:', ledger.entries, ledger.pack_entry, set, del)
  ledger.collect(ledger.dirty_memories, 's:', ledger.memories, ledger.pack_memory, set, del)
  if with_head or is_growth then
    set[#set + 1] = 'h'
    set[#set + 1] = pack_head(head)
  end
  if ledger.is_fresh and not ledger.has_written then
    ledger.placed.z = true
    ledger.home = SETTLING and call('cluster', 'myid') .. ' 0'
  end
  if ledger.home then
    set[#set + 1] = 'n'
    set[#set + 1] = ledger.home
    ledger.home = nil
  end
  for member, is_there in pairs(ledger.placed) do
    if is_there then
      add[#add + 1] = '0'
      add[#add + 1] = member
    else
      remove[#remove + 1] = member
    end
  end
  if is_growth then ledger.send('hset', records, set) end
  if not is_growth and not ledger.has_written and #del + #remove == 0 then call('hdel', records, '-') end
  ledger.send('hdel', records, del)
  ledger.send('zrem', order, remove)
  if not is_growth then ledger.send('hset', records, set) end
  ledger.send('zadd', order, add)
  ledger.dirty_leases, ledger.dirty_entries, ledger.dirty_memories, ledger.placed, ledger.is_dirty = {}, {}, {}, {}, false
end
