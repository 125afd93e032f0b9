-- slots: keeps which slots are held, as text like 0-2,5, and which ranges are free.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   grows with the number of ranges that are touched

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

-- Adds a range, and joins it with the ranges that it touches. The ranges stay ascending.
function ledger.slots_insert(slots, first_slot, last_slot)
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

-- Gives the slots of `slots` that are not in `others`, and the slots that both have.
function ledger.slots_take(slots, others)
  local kept, taken = {}, {}
  for _, range in ipairs(slots) do
    local at, last = range[1], range[2]
    for _, other in ipairs(others) do
      local from, to = max(other[1], at), min(other[2], last)
      if from <= to then
        if at < from then kept = ledger.slots_insert(kept, at, from - 1) end
        taken = ledger.slots_insert(taken, from, to)
        at = to + 1
      end
    end
    if at <= last then kept = ledger.slots_insert(kept, at, last) end
  end
  return kept, taken
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

-- All slots below the top are held or free. If all are held, there is no free range to look for.
function ledger.pop_free_slots(in_hand)
  if head.top <= head.held + in_hand then return nil end
  if not head.spread then
    local range = table.remove(head.free, 1)
    if not range then return nil end
    return range[1], range[2]
  end
  local member = ledger.first('f', 'g')
  if not member then return nil end
  ledger.placed[member] = false
  ledger.is_dirty = true
  local _, first_slot, last_slot = read(FREE, member)
  return first_slot, last_slot
end

function ledger.clear_free_slots()
  head.free = {}
  if not head.spread then return end
  ledger.flush()
  call('zremrangebylex', order, '[f', '(g')
  ledger.has_removed = true
  head.spread = false
end

-- Takes the lowest free slots, and then those from the top on.
function ledger.take_slots(count)
  local slots, missing = {}, count
  while missing > 0 do
    local first_slot, last_slot = ledger.pop_free_slots(count - missing)
    if not first_slot then break end
    local n = min(missing, last_slot - first_slot + 1)
    slots = ledger.slots_insert(slots, first_slot, first_slot + n - 1)
    missing = missing - n
    if first_slot + n <= last_slot then ledger.push_free_slots(first_slot + n, last_slot) end
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
