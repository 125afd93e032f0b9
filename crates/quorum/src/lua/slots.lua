-- Sets of slots: lists of ranges { first, last }, ascending, which do not touch. As text they are
-- like 0-2,5.

-- Gives the slots of both sets.
local function slots_union(a, b)
  local all, joined = {}, {}
  for _, range in ipairs(a) do all[#all + 1] = range end
  for _, range in ipairs(b) do all[#all + 1] = range end
  table.sort(all, function(x, y) return x[1] < y[1] end)
  for _, range in ipairs(all) do
    local last = joined[#joined]
    if last and range[1] <= last[2] + 1 then
      last[2] = max(last[2], range[2])
    else
      joined[#joined + 1] = { range[1], range[2] }
    end
  end
  return joined
end

-- Gives the slots of a set that are not in another, and those that both have.
local function slots_split(slots, others)
  local outside, inside, first = {}, {}, 1
  for _, range in ipairs(slots) do
    local at, last = range[1], range[2]
    while others[first] and others[first][2] < at do first = first + 1 end
    local other = first
    while others[other] and others[other][1] <= last do
      local from, to = max(others[other][1], at), min(others[other][2], last)
      if at < from then outside[#outside + 1] = { at, from - 1 } end
      inside[#inside + 1] = { from, to }
      at, other = to + 1, other + 1
    end
    if at <= last then outside[#outside + 1] = { at, last } end
  end
  return outside, inside
end

local function slots_lowest(slots, count)
  local lowest = {}
  for _, range in ipairs(slots) do
    if count == 0 then break end
    local size = min(count, range[2] - range[1] + 1)
    lowest[#lowest + 1] = { range[1], range[1] + size - 1 }
    count = count - size
  end
  return lowest
end

local function slots_count(slots)
  local count = 0
  for _, range in ipairs(slots) do count = count + range[2] - range[1] + 1 end
  return count
end

local function slots_text(slots)
  local parts = {}
  for i, range in ipairs(slots) do
    parts[i] = format(range[1] == range[2] and '%.0f' or '%.0f-%.0f', range[1], range[2])
  end
  return table.concat(parts, ',')
end

-- Reads slots that were written by slots_text.
local function slots_read(text)
  local slots = {}
  for first, last in string.gmatch(text, '(%d+)%-?(%d*)') do
    slots[#slots + 1] = { tonumber(first), tonumber(last ~= '' and last or first) }
  end
  return slots
end

-- Reads slots that a client names, in any order.
local function slots_of(text)
  if match(text, '[^%d,-]') then refuse('SEINPAALARGUMENT', 'slots cannot be read') end
  local slots = slots_read(text)
  for _, range in ipairs(slots) do
    if range[1] > range[2] or range[2] >= MOST_PERMITS then
      refuse('SEINPAALARGUMENT', 'slots cannot be read')
    end
  end
  return slots_union(slots, {})
end
