-- state: describes the data of one name, and reads its head.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing; the pieces after this one build on it
-- error  SEINPAALCORRUPT SEINPAALFORMAT SEINPAALTORN SEINPAALARGUMENT SEINPAALOOM
-- cost   one HGET; for a name without a head one EXISTS
--
-- records is a hash with these fields:
--   h: the head. a: the rest of a value whose tickets stand apart (see forms). s: the names of the
--     slots, if they have names. n: in a cluster, the node where the name is at home, and until
--     when it settles there.
--   rLEASE: a record, which has a lease, the memory of the series whose number 0 is the lease's id,
--     and tickets of both.
--   tTICKET: an entry, which is a waiter, or a holder for which no record has room.
--
-- order is a sorted set. All scores are 0. A member is a letter and then numbers of eight bytes or
-- ids:
--   q RANK TICKET: a waiter. k RANK TICKET: a parked waiter.
--   f FIRST LAST: free slots, if the name is spread.
--   e DUE LEASE, if the name is wide: a record, by a lower bound of its first end.
--   m LEASE TICKET, if the name is wide: an entry. g FENCE TICKET: a holder.
--   z: in a cluster, so that the key is always there.
--
-- Times are microseconds. Lua's numbers are exact up to 2^53. Only strings go to commands, because
-- Redis formats numbers slowly and, above 2^31, not always as integers.

-- Functions and state are fields of this table. Whenever a function captures a local, Lua walks the
-- list of all locals that are captured so far, and a hundred of them would cost more than the rest
-- of the call. The table is the local that most functions capture, so it stands last, where the
-- walk begins.
local ledger = {
  records = {}, entries = {}, dirty_records = {}, dirty_entries = {}, gone = {}, placed = {},
  is_dirty = false,
  has_written = false, has_removed = false, is_fresh = false, may_grow = true, had_order = false,
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
    ledger.refuse('SEINPAALARGUMENT', what .. ' is ' .. format('%.0f', least) .. ' to '
      .. format('%.0f', most) .. ', not ' .. sub(tostring(text), 1, 40))
  end
  return n
end

function ledger.id(text, what)
  if not text or #text ~= 32 or match(text, '[^0-9a-f]') then
    ledger.refuse('SEINPAALARGUMENT', what .. ' is not 32 hexadecimal digits')
  end
  return text
end

-- A head begins with the number of its format, which says whether another version of the program
-- wrote it.
function ledger.unreadable(text)
  local written = string.byte(text) or 0
  local is_ours = (written >= VERSION and written <= NAMED_VERSION)
    or (written >= APART_VERSION and written <= LINE_VERSION)
  if written > 0 and written < 32 and not is_ours then
    ledger.refuse('SEINPAALFORMAT',
      format('written in format %d, and this program reads format %d', written, VERSION))
  end
  ledger.corrupt('the head of the name')
end

-- A key of another program is never taken for ours. Without a head, nothing may be there but an
-- order whose records were evicted or deleted, and that order is dropped.
function ledger.start_afresh()
  ledger.is_fresh = true
  head = blank_head()
  if call('exists', records, order) == 0 then return end
  if call('exists', records) == 1 or call('type', order).ok ~= 'zset' then
    ledger.corrupt('the key is somebody else\'s')
  end
  local first = call('zrangebylex', order, '-', '+', 'limit', '0', '1')[1] or ''
  if first ~= 'z'
      and (not match(first, '^[egkqmf]') or (#first ~= 41 and #first ~= 65 and #first ~= 17)) then
    ledger.corrupt('the key is somebody else\'s')
  end
  call('unlink', order)
end

function ledger.has_order()
  return ALWAYS_LISTED or head.waiting > 0 or head.wide or head.spread
end

-- A line has no rows on the server, so all its data counts as changed, and is written as rows.
function ledger.read_line(text)
  local is_whole, line_head, fields = pcall(unfold_line, text)
  if not is_whole then ledger.corrupt('the head of the name') end
  head, ledger.is_line = parse_head(line_head), true
  for field, row in pairs(fields) do
    local id = sub(field, 2)
    if sub(field, 1, 1) == 'r' then
      local kept = ledger.keep_record(id, row)
      kept.is_crowded = #row > RECORD_SIZE + MOST_INLINE
      ledger.touch(kept)
    else
      local entry = ledger.keep_entry(id, row)
      entry.by_rank = nil
      ledger.put_entry(entry)
    end
  end
end

function ledger.read_head()
  local text = call('hget', records, 'h')
  local lone_head, field, record = unfold(text)
  if lone_head then
    ledger.is_apart = string.byte(text) >= APART_VERSION
    head = parse_head(lone_head) or ledger.corrupt('the head of the name')
    local kept = ledger.keep_record(sub(field, 2), record)
    kept.is_crowded = #record > RECORD_SIZE + MOST_INLINE
    ledger.touch(kept)
  elseif text and string.byte(text) == LINE_VERSION then
    ledger.read_line(text)
  elseif text then
    head = parse_head(text) or ledger.unreadable(text)
  else
    ledger.start_afresh()
  end
  if head.is_named then
    head.names = call('hget', records, 's') or ledger.corrupt('the names of the slots')
  end
  ledger.had_order = not ledger.is_fresh and not ledger.is_line and ledger.has_order()
end
