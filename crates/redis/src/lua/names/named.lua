-- Slots that have names: which waiter gets which slot. Only here may a waiter be served before one that
-- came earlier. A slot goes to a later waiter only if no waiter before it could take that slot.
--
--   the waiters in order    the slot that each may have
--   wants board-b           board-b, once that is free; nobody later gets it before
--   wants any               the lowest free slot that nobody before it waits for

local function add_named(L)
  function L.names_list()
    if not L.names then
      L.names = {}
      local text = L.settings.n or redis.call('hget', L.key, 'n') or ''
      for name in string.gmatch(text, '[^,]+') do L.names[#L.names + 1] = name end
    end
    return L.names
  end

  -- Gives the names of slots, or nothing if one of them has none.
  function L.names_of(slots)
    local names, told = L.names_list(), {}
    for at = 1, #slots, 8 do
      local first, last = struct.unpack('<I4I4', slots, at)
      if last >= #names then return '' end
      for slot = first, last do told[#told + 1] = names[slot + 1] end
    end
    return table.concat(told, ',')
  end

  function L.ranges_of(sorted)
    local ranges, from, to = {}, nil, nil
    for _, slot in ipairs(sorted) do
      if to and slot == to + 1 then
        to = slot
      elseif slot ~= to then
        if to then ranges[#ranges + 1] = struct.pack('<I4I4', from, to) end
        from, to = slot, slot
      end
    end
    if to then ranges[#ranges + 1] = struct.pack('<I4I4', from, to) end
    return table.concat(ranges)
  end

  -- Gives the slots that a request names, as ranges, or its refusal.
  function L.wanted_slots(want)
    local numbers, wanted, is_unknown, count = {}, {}, false, 0
    for i, name in ipairs(L.names_list()) do numbers[name] = i - 1 end
    for name in string.gmatch(want.slots, '[^,]+') do
      count, is_unknown = count + 1, is_unknown or not numbers[name]
      wanted[#wanted + 1] = numbers[name]
    end
    if count > want.permits then return nil, struct.pack('<BI4I4', 6, count, want.permits) end
    if is_unknown then
      local there = table.concat(L.names_list(), ',')
      return nil, struct.pack('<BI2', 18, #there) .. there
    end
    table.sort(wanted)
    return L.ranges_of(wanted)
  end

  -- Gives the free ranges that begin below a slot, ascending.
  function L.free_below(slot)
    local below = {}
    if L.held >= L.top then return below end
    for _, member in ipairs(redis.call('zrangebylex', L.order, '[f', '(f' .. struct.pack('>I8', slot))) do
      local _, first, last = struct.unpack('>c1I8I8', member)
      below[#below + 1] = { first, last }
    end
    return below
  end

  -- The named slots that are free. While the waiters are looked at in their order, `fit` takes slots out
  -- of these.
  function L.free_room()
    local most = #L.names_list()
    local room = { open = {}, count = 0, permits = math.max(L.limit - L.held, 0), at = 0 }
    local ranges = L.free_below(most)
    ranges[#ranges + 1] = { L.top, most - 1 }
    for _, range in ipairs(ranges) do
      for slot = range[1], math.min(range[2], most - 1) do
        room.open[slot], room.count = true, room.count + 1
      end
    end
    return room
  end

  function L.take_of(room, slot, taken)
    if not room.open[slot] then return end
    room.open[slot], room.count = nil, room.count - 1
    if taken then taken[#taken + 1] = slot end
  end

  function L.slots_in(ranges)
    local slots = {}
    for at = 1, #ranges, 8 do
      local first, last = struct.unpack('<I4I4', ranges, at)
      for slot = first, last do slots[#slots + 1] = slot end
    end
    return slots
  end

  -- Decides about the next request in order. It 'waits' for slots that it wants, and no later one gets
  -- them; it 'stops' every later one; or it 'takes' these slots.
  function L.fit(room, permits, ranges)
    local wanted, are_open = L.slots_in(ranges), true
    for _, slot in ipairs(wanted) do are_open = are_open and room.open[slot] end
    if not are_open then
      for _, slot in ipairs(wanted) do L.take_of(room, slot) end
      return 'waits'
    end
    if permits > room.permits or permits > room.count then return 'stops' end
    local taken = {}
    for _, slot in ipairs(wanted) do L.take_of(room, slot, taken) end
    while #taken < permits do
      L.take_of(room, room.at, taken)
      room.at = room.at + 1
    end
    room.permits = room.permits - permits
    table.sort(taken)
    return 'takes', L.ranges_of(taken)
  end

  function L.is_room_empty(room)
    return room.permits == 0 or room.count == 0
  end

  function L.waiters()
    if L.waiting == 0 then return {} end
    local found = {}
    for i, member in ipairs(redis.call('zrangebylex', L.order, '[q', '(r', 'limit', '0', '256')) do
      local _, _, series, number = struct.unpack('>c1I8c12I4', member)
      found[i] = L.find(series, number) or L.damaged('a waiter that is listed is not there')
    end
    return found
  end

  -- The ledger's list of waiters has those passed over at its end, and counts them in a page.
  function L.is_page(line)
    return #line == 256
  end

  -- Gives the slots that a newcomer gets at once, or nothing.
  function L.left_by_the_line(permits, wanted)
    if not L.admits() then return nil end
    local room, line = L.free_room(), L.waiters()
    if L.is_page(line) then return nil end
    for _, row in ipairs(line) do
      if L.is_room_empty(room) or L.fit(room, row.permits, row.slots or '') == 'stops' then return nil end
    end
    local _, slots = L.fit(room, permits, wanted)
    return slots
  end

  -- Takes these slots out of the free ones.
  function L.take_these(slots)
    local highest = struct.unpack('<I4', slots, #slots - 3)
    local ranges = L.free_below(highest + 1)
    if highest >= L.top then
      L.free_range(L.top, highest)
      ranges[#ranges + 1] = { L.top, highest }
      L.top = highest + 1
    end
    for _, range in ipairs(ranges) do
      local rest, taken = L.split_slots(struct.pack('<I4I4', range[1], range[2]), slots)
      if taken ~= '' then
        L.remove(struct.pack('>c1I8I8', 'f', range[1], range[2]))
        for at = 1, #rest, 8 do L.free_range(struct.unpack('<I4I4', rest, at)) end
      end
    end
  end

  function L.free_range(first, last)
    L.add(struct.pack('>c1I8I8', 'f', first, last))
  end

  -- Grants to the waiters in their order, as long as there is a slot for one of them.
  function L.serve_named()
    local room, line, work = L.free_room(), L.waiters(), L.work
    for _, row in ipairs(line) do
      if L.is_room_empty(room) then return end
      local unfit = L.unfit(row)
      if unfit then
        if not L.has_work() then return end
        L.pass_over(row, unfit)
      else
        local what, slots = L.fit(room, row.permits, row.slots or '')
        if what == 'stops' or what == 'takes' and not L.has_work() then return end
        if what == 'takes' then L.grant_waiter(row, slots) end
      end
    end
    -- Waiters that this step did not look at have moved up.
    if L.is_page(line) and L.work < work then L.backlog = true end
  end
end
