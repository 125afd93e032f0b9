-- items: reads and writes items, groups and payloads, each at most once.
-- keys   records order
-- args   session
-- reply  nothing
-- cost   one HGET for each record

function ledger.has_work()
  if ledger.work == 0 then
    ledger.has_backlog = true
    return false
  end
  ledger.work = ledger.work - 1
  return true
end

-- Gives the next number. Numbers grow strictly. Because they follow the clock, they even grow after
-- a loss of memory.
function ledger.next_number()
  head.last = max(head.last + 1, now)
  return head.last
end

-- Items.

-- Gives the places in the order of an item with this standing: at most two members, and the letters
-- with which each is looked up.
function ledger.stands(item)
  local standing, number = item.standing, item.number
  if standing == 'w' then
    return 'e', 'e' .. pack(TWO, item.ends, number), 'w', 'w' .. pack(TWO, item.ends_wall, number)
  end
  if standing == 'd' then return 'd', 'd' .. pack(TWO, item.at, number) end
  if standing == 'x' then return 'x', 'x' .. pack(NUMBER, number) end
  local place = pack(TWO, item.rank + RANK_BIAS, number)
  local open = standing == 'o' and 'o' .. place or nil
  if item.group == '' then return 'o', open end
  local band = 'g' .. item.group .. '\0'
  return 'o', open, band, band .. place
end

function ledger.take_item(number, text)
  local item = parse_item(number, text)
  if not item then ledger.corrupt('item ' .. format('%d', number)) end
  local _
  _, item.a, _, item.b = ledger.stands(item)
  ledger.items[number] = item
  return item
end

function ledger.item_of(number)
  local item = ledger.items[number]
  if item ~= nil then return item end
  local text = not ledger.is_fresh and call('hget', records, 'i' .. pack(NUMBER, number))
  if text then return ledger.take_item(number, text) end
  ledger.items[number] = false
  return false
end

function ledger.put_item(item)
  local prefix_a, a, prefix_b, b = ledger.stands(item)
  ledger.place(item, 'a', prefix_a, a)
  ledger.place(item, 'b', prefix_b, b)
  ledger.items[item.number] = item
  ledger.dirty_items[item.number] = true
  if item.standing == 'w' then
    head.first_end, head.first_wall = min(head.first_end, item.ends),
      min(head.first_wall, item.ends_wall)
  elseif item.standing == 'd' then
    head.first_due = min(head.first_due, item.at)
  end
end

function ledger.remove_item(item)
  ledger.place(item, 'a', nil, nil)
  ledger.place(item, 'b', nil, nil)
  ledger.items[item.number] = false
  ledger.dirty_items[item.number] = nil
  local id = pack(NUMBER, item.number)
  ledger.write('i' .. id, false)
  ledger.write('p' .. id, false)
end

-- Moves the items that are listed behind the head into the order.
function ledger.spread(text)
  local fields = {}
  for at = HEAD_BYTES + 1, #text, LISTED_BYTES do
    fields[#fields + 1] = 'i' .. sub(text, at, at + 7)
  end
  for i, stored in ipairs(call('hmget', records, unpack(fields))) do
    local item = ledger.take_item(read(NUMBER, fields[i], 2), stored or '')
    if item.standing ~= 'w' then ledger.corrupt('an item that is listed is not in work') end
    ledger.add('e', item.a)
    ledger.add('w', item.b)
  end
end

-- Gives the first item whose member begins with these letters, or nothing.
function ledger.first_item(prefix, at_once)
  local member = ledger.first(prefix, at_once)
  if not member then return nil end
  local item = ledger.item_of(read(NUMBER, member, #member - 7))
  if not item then ledger.corrupt('an item that is listed is not there') end
  return item
end

-- Gives the first item whose member begins with these letters. The head says that there is one.
function ledger.sure_item(prefix)
  return ledger.first_item(prefix) or ledger.corrupt('an item that is counted is not there')
end

function ledger.in_work(number, fence)
  local item = ledger.item_of(number)
  return item and item.standing == 'w' and item.fence == fence and item
end

function ledger.payload_of(item)
  return ledger.record('p' .. pack(NUMBER, item.number)) or ''
end

-- Gives the payload of an item to work on. Without one the call fails, because a worker would take
-- an empty payload for one that was pushed.
function ledger.whole_payload_of(item)
  local payload = ledger.record('p' .. pack(NUMBER, item.number))
  return payload
    or ledger.corrupt(format('the payload of item %d is gone: cancel that item', item.number))
end

-- Groups.

function ledger.group_of(name)
  local group = ledger.groups[name]
  if group then return group end
  group = { name = name, in_work = 0, ready = 0, front = 0 }
  local text = ledger.record('g' .. name)
  if text then
    if #text ~= 24 then ledger.corrupt('group ' .. name) end
    group.in_work, group.ready, group.front = read(GROUP, text)
    group.listed = 'c' .. name
    group.full = group.ready > 0 and group.front == 0 and 'f' .. name or nil
  end
  ledger.groups[name] = group
  return group
end

function ledger.put_group(group)
  local is_kept = group.in_work > 0 or group.ready > 0
  local is_full = group.ready > 0 and group.front == 0
  ledger.place(group, 'listed', 'c', is_kept and 'c' .. group.name or nil)
  ledger.place(group, 'full', 'f', is_full and 'f' .. group.name or nil)
  ledger.write('g' .. group.name, is_kept and pack(GROUP, group.in_work, group.ready, group.front))
end

-- Gives the first group after this name that has ready items and none of them in the order of all.
function ledger.full_group_after(name)
  local after, found = 'f' .. name, nil
  local from, page = after, ledger.is_fresh and {} or nil
  while not page or (#page > 0 and not found) do
    page = call('zrangebylex', order, '(' .. from, '(g', 'limit', '0', '4')
    for _, member in ipairs(page) do
      from = member
      if not found and ledger.placed[member] ~= false then found = member end
    end
  end
  for _, member in ipairs(ledger.pending.f or {}) do
    local is_nearer = not found or ledger.precedes(member, found)
    if ledger.placed[member] and ledger.precedes(after, member) and is_nearer then
      found = member
    end
  end
  return found and ledger.group_of(sub(found, 2))
end
