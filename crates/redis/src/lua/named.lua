-- named: keeps the names of slots, and chooses the named slots of each grant.
-- keys   records order
-- args   none of its own
-- reply  of an acquire, no-such-slot
-- cost   where slots have names, one HGET; to serve, one ZRANGEBYLEX and one HMGET for at most
--        most_looked waiters
--
-- The names stand in a field of their own, `s`, with commas between them, as `named.rs` writes
-- them. A head of the format NAMED_VERSION says that there are names. Only this piece and the
-- pieces that call it use the names.

ledger.most_looked = 256

function ledger.names_list()
  if not ledger.names then
    ledger.names = {}
    for name in string.gmatch(head.names, '[^,]+') do ledger.names[#ledger.names + 1] = name end
  end
  return ledger.names
end

-- Gives the slots of a grant in the form of the reply: with their names, if all of them have one.
function ledger.slots_told(slots)
  if not head.names then return slots end
  local told, names = {}, ledger.names_list()
  for _, range in ipairs(ledger.slots_of(slots)) do
    if range[2] >= #names then return slots end
    for slot = range[1], range[2] do told[#told + 1] = names[slot + 1] end
  end
  return slots .. ';' .. table.concat(told, ',')
end

-- Gives the numbers of the slots that are wished for; or nothing, and the refusal.
function ledger.wishes_of(want)
  local wishes, numbers, names = {}, {}, head.names and ledger.names_list() or {}
  for i, name in ipairs(names) do numbers[name] = i - 1 end
  for name in string.gmatch(want.wishes or '', '[^,]+') do
    wishes[#wishes + 1] = numbers[name] or name
  end
  if #wishes > want.permits then
    return nil, format('too-many %s %d %d', want.ticket, #wishes, want.permits)
  end
  for _, wish in ipairs(wishes) do
    if type(wish) == 'string' then
      return nil, 'no-such-slot ' .. want.ticket .. ' ' .. (head.names or '')
    end
  end
  return wishes
end

function ledger.wishes_text(wishes)
  return #wishes > 0 and ledger.slots_text(ledger.ranges_of(wishes)) or nil
end

function ledger.ranges_of(sorted)
  local ranges = {}
  for _, slot in ipairs(sorted) do
    local last = ranges[#ranges]
    if last and last[2] + 1 == slot then
      last[2] = slot
    else
      ranges[#ranges + 1] = { slot, slot }
    end
  end
  return ranges
end

-- Gives the free ranges that begin below a slot, ascending.
function ledger.free_below(slot)
  local below = {}
  if head.spread then
    ledger.flush()
    for i, member in ipairs(call('zrangebylex', order, '[f', '(f' .. pack('>I8', slot))) do
      local _, first_slot, last_slot = read(FREE, member)
      below[i] = { first_slot, last_slot }
    end
    return below
  end
  for i, range in ipairs(head.free) do
    if range[1] < slot then below[i] = range end
  end
  return below
end

function ledger.remove_free(range)
  ledger.is_dirty = true
  if head.spread then
    ledger.placed[pack(FREE, 'f', range[1], range[2])] = false
    return
  end
  local kept = {}
  for _, other in ipairs(head.free) do
    if other[1] ~= range[1] then kept[#kept + 1] = other end
  end
  head.free = kept
end

-- Takes these slots, given as ranges, out of the free ones.
function ledger.take_these(slots)
  local highest = slots[#slots][2]
  if highest >= head.top then
    ledger.push_free_slots(head.top, highest)
    head.top = highest + 1
  end
  local rest, taken, place = nil, nil, 1
  for _, range in ipairs(ledger.free_below(highest + 1)) do
    rest, taken, place = ledger.slots_take({ range }, slots, place)
    if #taken > 0 then
      ledger.remove_free(range)
      for _, left in ipairs(rest) do ledger.push_free_slots(left[1], left[2]) end
    end
  end
  return ledger.slots_text(slots)
end

-- Gives the named slots that are free. While the waiters are looked at in their order, `fit` takes
-- slots out of these.
function ledger.room()
  local most = #ledger.names_list()
  local room = { open = {}, count = 0, permits = max(ledger.limit_now() - head.held, 0), at = 0 }
  local ranges = ledger.free_below(most)
  ranges[#ranges + 1] = { head.top, most - 1 }
  for _, range in ipairs(ranges) do
    for slot = range[1], min(range[2], most - 1) do
      room.open[slot], room.count = true, room.count + 1
    end
  end
  return room
end

function ledger.is_room(room)
  return room.permits > 0 and room.count > 0
end

function ledger.take_of(room, slot, taken)
  if not room.open[slot] then return end
  room.open[slot], room.count = nil, room.count - 1
  if taken then taken[#taken + 1] = slot end
end

-- Decides about a waiter. It 'waits' for slots that it wishes for, and no waiter behind it gets
-- them; it 'stops' every waiter behind it; or it 'takes' these slots.
function ledger.fit(room, permits, wishes)
  local are_open = true
  for _, slot in ipairs(wishes) do are_open = are_open and room.open[slot] end
  if not are_open then
    for _, slot in ipairs(wishes) do ledger.take_of(room, slot) end
    return 'waits'
  end
  if permits > room.permits or permits > room.count then return 'stops' end
  local taken = {}
  for _, slot in ipairs(wishes) do ledger.take_of(room, slot, taken) end
  while #taken < permits do
    ledger.take_of(room, room.at, taken)
    room.at = room.at + 1
  end
  room.permits = room.permits - permits
  table.sort(taken)
  return 'takes', ledger.ranges_of(taken)
end

-- Gives the waiters in the order of service.
function ledger.line()
  if head.waiting == 0 then return {} end
  ledger.flush()
  local line, fields =
    call('zrangebylex', order, '[q', '(r', 'limit', '0', format('%d', ledger.most_looked)), {}
  for i, member in ipairs(line) do fields[i] = 't' .. sub(member, 10) end
  local texts = #fields > 0 and call('hmget', records, unpack(fields)) or {}
  for i, member in ipairs(line) do
    local ticket = sub(member, 10)
    local entry = ledger.entries[ticket] or texts[i] and ledger.keep_entry(ticket, texts[i])
    if not entry then ledger.corrupt('a ticket that is listed is not there') end
    line[i] = entry
  end
  return line
end

function ledger.wishes_in(entry)
  local wishes = {}
  for _, range in ipairs(entry.wishes and ledger.slots_of(entry.wishes) or {}) do
    for slot = range[1], range[2] do wishes[#wishes + 1] = slot end
  end
  return wishes
end

-- Gives the slots that a newcomer gets at once, or nothing.
function ledger.left_by_the_line(permits, wishes)
  if not ledger.admits() then return nil end
  local room, line = ledger.room(), ledger.line()
  if #line == ledger.most_looked then return nil end
  for _, waiter in ipairs(line) do
    if not ledger.is_room(room)
        or ledger.fit(room, waiter.permits, ledger.wishes_in(waiter)) == 'stops' then
      return nil
    end
  end
  local _, slots = ledger.fit(room, permits, wishes)
  return slots
end

function ledger.serve_named()
  local room, line, work = ledger.room(), ledger.line(), ledger.work
  for _, waiter in ipairs(line) do
    if not ledger.is_room(room) then return end
    local is_unfit = waiter.permits > ledger.limit_now() and 'end'
      or waiter.inbox and not ledger.is_listening(waiter.inbox) and 'park'
    if is_unfit then
      if not ledger.has_work() then return end
      if is_unfit == 'end' then ledger.end_entry(waiter, 'toomany') else ledger.park(waiter) end
    else
      local what, slots = ledger.fit(room, waiter.permits, ledger.wishes_in(waiter))
      if what == 'stops' or (what == 'takes' and not ledger.has_work()) then return end
      if what == 'takes' then ledger.grant_waiter(waiter, slots) end
    end
  end
  -- Waiters beyond those that this step looked at have moved up, so another call has to look at
  -- them.
  if #line == ledger.most_looked and ledger.work < work then ledger.has_backlog = true end
end

-- Tells whether slots may get these names. While there are holders or waiters, names may only be
-- added at the end.
function ledger.may_be_called(names)
  if head.holders + head.waiting == 0 or not head.names then return true end
  return sub(names .. ',', 1, #head.names + 1) == head.names .. ','
end

function ledger.call_slots(names)
  if names ~= '' or head.names then ledger.names_change = names end
  head.names, ledger.names = names ~= '' and names or nil, nil
end
