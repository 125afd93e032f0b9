-- slots: keeps which slots are held, as text like 0-2,5, and which ranges are free.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   grows with the number of ranges that are touched; to take many free ranges that stand in
--        the order, one ZRANGEBYLEX for 64 of them

function ledger.slots_of(text)
  local slots = {}
  for first, last in string.gmatch(text, '(%d+)%-?(%d*)') do
    slots[#slots + 1] = { first + 0, (last == '' and first or last) + 0 }
  end
  return slots
end

function ledger.slots_text(slots)
  local parts = {}
  for i, range in ipairs(slots) do
    parts[i] = range[1] == range[2] and format('%d', range[1])
      or format('%d-%d', range[1], range[2])
  end
  return table.concat(parts, ',')
end

function ledger.slots_count(slots)
  local count = 0
  for _, range in ipairs(slots) do count = count + range[2] - range[1] + 1 end
  return count
end

-- Adds a range, and joins it with the ranges that it touches. The ranges stay ascending. A range
-- that comes in its order costs the same after many ranges as after few.
function ledger.slots_insert(slots, first_slot, last_slot)
  local highest = slots[#slots]
  if not highest or highest[2] + 1 < first_slot then
    slots[#slots + 1] = { first_slot, last_slot }
    return slots
  end
  if highest[1] <= first_slot then
    highest[2] = max(highest[2], last_slot)
    return slots
  end
  local joined, kept = { first_slot, last_slot }, {}
  for _, range in ipairs(slots) do
    if range[2] + 1 < joined[1] or joined[2] + 1 < range[1] then
      kept[#kept + 1] = range
    else
      joined = { min(joined[1], range[1]), max(joined[2], range[2]) }
    end
  end
  kept[#kept + 1] = joined
  table.sort(kept, function(a, b) return a[1] < b[1] end)
  return kept
end

-- Gives the slots of `slots` that are not in `others`, and the slots that both have. Both lists are
-- ascending. place: the first range of `others` to look at. The third answer is the first range for
-- higher slots.
function ledger.slots_take(slots, others, place)
  local kept, taken, k = {}, {}, place or 1
  for _, range in ipairs(slots) do
    local at, last = range[1], range[2]
    while others[k] and others[k][1] <= last do
      local other = others[k]
      local from, to = max(other[1], at), min(other[2], last)
      if from <= to then
        if at < from then kept = ledger.slots_insert(kept, at, from - 1) end
        taken = ledger.slots_insert(taken, from, to)
        at = to + 1
      end
      -- The rest of this one may be in the next range.
      if other[2] > last then break end
      k = k + 1
    end
    if at <= last then kept = ledger.slots_insert(kept, at, last) end
  end
  return kept, taken, k
end

-- A few free ranges stand in the head. Once there are many, all of them stand in the order, until
-- no slot is held.
function ledger.push_free_slots(first_slot, last_slot)
  ledger.is_dirty = true
  if not head.spread then
    head.free = ledger.slots_insert(head.free, first_slot, last_slot)
    if #head.free <= MOST_FREE then return end
    head.spread = true
    for _, range in ipairs(head.free) do
      ledger.placed[pack(FREE, 'f', range[1], range[2])] = true
    end
    head.free = {}
  else
    ledger.placed[pack(FREE, 'f', first_slot, last_slot)] = true
  end
end

-- Gives the lowest free ranges above the one that is given, or above none. There are at most so
-- many, and there may be fewer than there are free.
function ledger.lowest_free(most, above)
  if not head.spread then return { head.free[1] } end
  if not above then ledger.flush() end
  local after, ranges = above and '(' .. pack(FREE, 'f', above[1], above[2]) or '[f', {}
  local page =
    call('zrangebylex', order, after, '(g', 'limit', '0', format('%d', min(most, 64)))
  for i, member in ipairs(page) do
    local _, first_slot, last_slot = read(FREE, member)
    ranges[i] = { first_slot, last_slot }
  end
  return ranges
end

function ledger.clear_free_slots()
  head.free = {}
  if not head.spread then return end
  ledger.flush()
  call('zremrangebylex', order, '[f', '(g')
  ledger.has_removed = true
  head.spread = false
end

-- Takes the lowest free slots, and then those from the top on. All slots below the top are held or
-- free. If all are held, there is no free range to look for.
function ledger.take_slots(count)
  local slots, missing, above = {}, count, nil
  while missing > 0 and head.top > head.held + count - missing do
    local ranges = ledger.lowest_free(missing, above)
    if #ranges == 0 then break end
    for _, range in ipairs(ranges) do
      if missing == 0 then break end
      local n = min(missing, range[2] - range[1] + 1)
      ledger.remove_free(range)
      slots = ledger.slots_insert(slots, range[1], range[1] + n - 1)
      missing = missing - n
      if range[1] + n <= range[2] then ledger.push_free_slots(range[1] + n, range[2]) end
    end
    above = ranges[#ranges]
  end
  if missing > 0 then
    slots = ledger.slots_insert(slots, head.top, head.top + missing - 1)
    head.top = head.top + missing
  end
  return ledger.slots_text(slots)
end

function ledger.free_slots(slots)
  head.held = head.held - ledger.slots_count(slots)
  for _, range in ipairs(slots) do ledger.push_free_slots(range[1], range[2]) end
end
