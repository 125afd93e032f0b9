-- state: describes the data of one queue, and reads and writes it.
-- keys   records order
-- args   session
-- reply  nothing; the pieces after this one build on it
-- error  SEINPAALCORRUPT SEINPAALFORMAT SEINPAALTORN SEINPAALARGUMENT SEINPAALOOM
-- cost   one HGET for each record, one ZRANGEBYLEX for some members of the order; all writes
--        together at the end
--
-- records is a hash with these fields:
--   h: the head, and behind a head without MORE the numbers and fences of up to 64 items in work
--     that are not in the order. n: in a cluster, the node where the queue is at home, and until
--     when it settles there.
--   iID: an item. pID: its payload. gGROUP: the counts of a group. lINBOX: the place of a worker.
--     sINBOX: a session. kKEY: a key.
--
-- order is a sorted set. All scores are 0. A member is a letter and then numbers of eight bytes,
-- inboxes or names:
--   o RANK ID: an open item, which is one in the order of all. g GROUP 0 RANK ID: a ready item of a
--     group. d DUE ID: a delayed item.
--   e END ID and w WALLEND ID: an item in work. x ID: a dead item.
--   c GROUP: a group. f GROUP: a group that has ready items, and none of them open.
--   l DRAINS UNTIL INBOX WANT: a worker in line. k SINCE INBOX DRAINS UNTIL WANT: a worker that was
--     called.
--   s UNTIL INBOX: a session, at its end or earlier (see time). t UNTIL KEY: a key.
--   z: a member that is always there, so that the key outlives the others.
--
-- Changes are kept here until the end of the script, and reads of the order see them.

-- Functions and state are fields of this table. Whenever a function captures a local, Lua walks the
-- list of all locals that are captured so far, from the last one on.
local ledger = {
  items = {}, dirty_items = {}, groups = {}, fields = {}, changed = {}, placed = {}, pending = {},
  windows = {},
  is_new = false, is_fresh = false, has_written = false, may_grow = false,
  work = WORK, room = MOST_PAYLOAD, has_backlog = false, wakeups = {}, listeners = {},
}
local head

function ledger.refuse(code, what)
  error({ refusal = code .. ' ' .. what }, 0)
end

function ledger.corrupt(what)
  ledger.refuse('SEINPAALCORRUPT', what)
end

-- A head begins with the number of its format, which says whether another version of the program
-- wrote it.
function ledger.unreadable(text)
  local written = byte(text) or 0
  if written > 0 and written < 32 and written ~= VERSION then
    ledger.refuse('SEINPAALFORMAT',
      format('written in format %d, and this program reads format %d', written, VERSION))
  end
  ledger.corrupt('the head of the queue')
end

-- A key of another program is never taken for ours. Without a head, nothing may be there but an
-- order whose records were evicted or deleted, and that order is dropped.
function ledger.start_afresh()
  ledger.is_new, ledger.is_fresh = true, true
  head = blank_head()
  if call('exists', records, order) == 0 then return end
  if call('exists', records) == 1 or call('type', order).ok ~= 'zset' then
    ledger.corrupt('the key is somebody else\'s')
  end
  if call('zrangebylex', order, '[z', '[z')[1] ~= 'z' then
    ledger.corrupt('the key is somebody else\'s')
  end
  call('unlink', order)
end

function ledger.read_head()
  if type(read_text) == 'table' then error(read_text, 0) end
  ledger.fields[field] = read_session
  if not read_text then return ledger.start_afresh() end
  head = parse_head(read_text) or ledger.unreadable(read_text)
  if byte(read_text, 2) == 0 and #read_text > HEAD_BYTES then ledger.spread(read_text) end
end

-- Records.

function ledger.record(field)
  local text = ledger.fields[field]
  if text == nil then
    text = not ledger.is_fresh and call('hget', records, field)
    ledger.fields[field] = text
  end
  return text
end

-- Writes a text, or removes the record if the text is false.
function ledger.write(field, text)
  ledger.fields[field], ledger.changed[field] = text, true
end

-- The order. The members that this call has added and removed lie over those that are stored. Both
-- are looked up by the letters with which they begin.

function ledger.precedes(a, b)
  for i = 1, min(#a, #b) do
    local x, y = byte(a, i), byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

function ledger.add(prefix, member)
  local list = ledger.pending[prefix]
  if not list then
    list = { first = 1 }
    ledger.pending[prefix] = list
  end
  list[#list + 1], list.is_sorted = member, false
  ledger.placed[member] = true
end

function ledger.remove(member)
  ledger.placed[member] = false
end

-- Gives an object this member in the order, in place of its former member.
function ledger.place(object, slot, prefix, member)
  local old = object[slot]
  if old == member then return end
  if old then ledger.remove(old) end
  if member then ledger.add(prefix, member) end
  object[slot] = member
end

function ledger.first_stored(prefix, at_once)
  local window = ledger.windows[prefix]
  if not window then
    local last = #prefix
    window = { at = 1, from = '[' .. prefix, to = '(' .. sub(prefix, 1, last - 1)
      .. char(byte(prefix, last) + 1), is_whole = ledger.is_fresh }
    ledger.windows[prefix] = window
  end
  while true do
    local member = window[window.at]
    if member and ledger.placed[member] ~= false then return member end
    if member then
      window.at = window.at + 1
    elseif window.is_whole then
      return nil
    else
      local page = call('zrangebylex', order, window.from, window.to, 'limit', '0', at_once)
      for i, found in ipairs(page) do window[#window + 1] = found end
      window.is_whole = #page < tonumber(at_once)
      if #page > 0 then window.from = '(' .. page[#page] end
    end
  end
end

function ledger.first_pending(prefix)
  local list = ledger.pending[prefix]
  if not list then return nil end
  if not list.is_sorted then
    table.sort(list, ledger.precedes)
    list.first, list.is_sorted = 1, true
  end
  while list[list.first] and ledger.placed[list[list.first]] == false do
    list.first = list.first + 1
  end
  return list[list.first]
end

-- Gives the first member that begins with these letters.
function ledger.first(prefix, at_once)
  local stored, pending = ledger.first_stored(prefix, at_once or '4'), ledger.first_pending(prefix)
  if stored and pending then return ledger.precedes(pending, stored) and pending or stored end
  return stored or pending
end

-- Gives up to so many members that begin with this letter and come after that text. It writes
-- pending changes first.
function ledger.members(letter, after, most)
  ledger.flush()
  if ledger.is_fresh then return {} end
  return call('zrangebylex', order, '(' .. letter .. after, '(' .. char(byte(letter) + 1),
    'limit', '0', most)
end

-- Writing. Removals go first. They free memory, and after one removal Redis lets a script write
-- even when memory is short. A script that only makes the queue grow begins with the head instead,
-- so that the server refuses the whole script.

function ledger.collect_records(set, del)
  for number in pairs(ledger.dirty_items) do
    local item = ledger.items[number]
    if item then
      set[#set + 1] = 'i' .. pack(NUMBER, number)
      set[#set + 1] = pack_item(item)
    end
  end
  for field in pairs(ledger.changed) do
    local text = ledger.fields[field]
    if text then
      set[#set + 1] = field
      set[#set + 1] = text
    else
      del[#del + 1] = field
    end
  end
end

function ledger.flush(with_head)
  if not with_head and not next(ledger.dirty_items) and not next(ledger.changed)
      and not next(ledger.placed) then
    return
  end
  local set, del = {}, {}
  local is_growth = ledger.may_grow and not ledger.has_written
  if ledger.is_fresh and not ledger.has_written then
    ledger.placed.z = true
    ledger.home = SETTLING and call('cluster', 'myid') .. ' 0'
  end
  if ledger.home then
    ledger.write('n', ledger.home)
    ledger.home = nil
  end
  if with_head or is_growth then set[1], set[2] = 'h', pack_head(head) end
  ledger.collect_records(set, del)
  local add, remove = ledger.sort_placed()
  if is_growth then ledger.send('hset', records, set) end
  if not is_growth and not ledger.has_written and #del + #remove == 0 then
    call('hdel', records, '-')
  end
  ledger.send('zrem', order, remove)
  ledger.send('hdel', records, del)
  if not is_growth then ledger.send('hset', records, set) end
  ledger.send('zadd', order, add)
  ledger.dirty_items, ledger.changed, ledger.placed, ledger.pending, ledger.windows =
    {}, {}, {}, {}, {}
  ledger.is_fresh = false
end
