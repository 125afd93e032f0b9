-- Writes everything that a call has changed, at its end.
--
-- A server without memory refuses a command that may take more, unless the script has written
-- already. So a call that only asks for more begins with such a command, and is refused as a whole.
-- Any other call begins with a removal, so that permits can be renewed and given back.
--
-- Additions come before removals, and the order before the rows. So if the user lacks the right to
-- one of these commands, no lease is left that the order does not list.

local has_written = false
-- The fields of the restart guard's marker to write, and for how long the marker lasts.
local marker_fields, marker_life

-- Sends a command with any number of values: pairs, or single ones.
local function send(command, key, values)
  for from = 1, #values, 1000 do
    call(command, key, unpack(values, from, min(from + 999, #values)))
    has_written = true
  end
end

-- Tells whether nothing would be lost without the name. Its head is still needed until the clock
-- has passed the last fence, if that is ahead by at most a day.
local function is_blank()
  local is_used = head.holders + head.waiting + head.past > 0 or head.pinned or head.paused
  return not is_used and (is_fresh or head.fence < now or head.fence > now + DAY)
end

-- Gives for how long the keys last, in microseconds. They outlive every lease by half a day or
-- more, so that no smaller step of the clock ends one. A name that is only remembered goes when
-- that is over. But the server expires keys by its own clock, so with the clock of a test it stays
-- for longer.
local function life_of_keys()
  local ahead = head.fence - now
  local owed = ahead >= 0 and ahead <= DAY and ahead + 1 or 0
  if head.holders + head.waiting > 0 then return max(head.longest + DAY, owed) end
  return max(head.memory - head.clock, owed) + (ARGV[1] == '' and SECOND or HALF_DAY)
end

local function collect_fields()
  local set, unset = { 'h', head_text() }, {}
  local function add(field, text)
    if text then
      set[#set + 1] = field
      set[#set + 1] = text
    else
      unset[#unset + 1] = field
    end
  end
  add('p', head.paused)
  if free or #freed > 0 then add('f', head.held > 0 and slots_text(free_slots())) end
  for field in pairs(changed) do
    local row = rows[field]
    add(field, row and kinds[row.kind].text(row))
  end
  return set, unset
end

local function collect_members()
  local add, drop = {}, {}
  for member, is_there in pairs(placed) do
    if is_there then
      add[#add + 1] = '0'
      add[#add + 1] = member
    else
      drop[#drop + 1] = member
    end
  end
  return add, drop
end

local function write_name(only_grows)
  local set, unset = collect_fields()
  local add, drop = collect_members()
  -- There is no such field.
  if not only_grows then call('hdel', records, '-') end
  if has_stale_order then call('unlink', order) end
  send('zadd', order, add)
  send('hset', records, set)
  send('hdel', records, unset)
  send('zrem', order, drop)
  if head.pinned or head.paused then
    call('persist', records)
    call('persist', order)
  else
    local milliseconds = words(floor(life_of_keys() / 1000))
    call('pexpire', records, milliseconds)
    call('pexpire', order, milliseconds)
  end
end

local function write(only_grows)
  if not is_blank() then
    write_name(only_grows)
  elseif not is_fresh or has_stale_order then
    call('unlink', records, order)
    has_written = true
  end
  if marker_fields then send('hset', marker, marker_fields) end
  if marker_life then call('pexpire', marker, words(marker_life)) end
end
