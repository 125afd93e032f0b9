-- order: keeps the order of all items that are ready.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   for an item of a group, its group and the group's first item
--
-- An item without a group stands in the order of all. Of the items of a group only the first stands
-- in the order of all, and only while the group has room.

function ledger.rank(at, item) return at - item.priority * AGING end

function ledger.has_room(group) return not head.group_limit or group.in_work < head.group_limit end

-- Puts the first item of a group into the order of all, if the group has room and none there.
function ledger.open_first(group)
  if group.front ~= 0 or group.ready == 0 or not ledger.has_room(group) then return end
  local first = ledger.first_item('g' .. group.name .. '\0')
  if not first then return end
  first.standing = 'o'
  ledger.put_item(first)
  group.front = first.number
  head.open = head.open + 1
end

function ledger.shut(front, group)
  front.standing = 'r'
  group.front = 0
  head.open = max(head.open - 1, 0)
  ledger.put_item(front)
end

-- Puts an item that is in no order into that of its rank.
function ledger.make_ready(item)
  head.ready = head.ready + 1
  if item.group == '' then
    item.standing = 'o'
    head.open = head.open + 1
    return ledger.put_item(item)
  end
  item.standing = 'r'
  ledger.put_item(item)
  local group = ledger.group_of(item.group)
  group.ready = group.ready + 1
  local front = group.front ~= 0 and ledger.item_of(group.front)
  if front then
    local is_before = item.rank < front.rank
      or (item.rank == front.rank and item.number < front.number)
    if is_before then ledger.shut(front, group) end
  end
  ledger.open_first(group)
  ledger.put_group(group)
end

-- Takes note that an item was taken out of the order, where it was open or not. The next item of
-- its group takes its place.
function ledger.leave_ready(item, was_open, into_work)
  head.ready = max(head.ready - 1, 0)
  if was_open then head.open = max(head.open - 1, 0) end
  if item.group == '' then return end
  local group = ledger.group_of(item.group)
  group.ready = max(group.ready - 1, 0)
  group.in_work = group.in_work + into_work
  if group.front == item.number then group.front = 0 end
  ledger.open_first(group)
  ledger.put_group(group)
end

-- Takes note that one item of this group less is in work.
function ledger.make_room(name)
  if name == '' then return end
  local group = ledger.group_of(name)
  group.in_work = max(group.in_work - 1, 0)
  ledger.open_first(group)
  ledger.put_group(group)
end

-- Gives the next item to deliver. It skips the first items of groups that have no room since the
-- limit was lowered.
function ledger.next_open(at_once)
  while head.open > 0 do
    local item = ledger.first_item('o', at_once)
    if not item then return nil end
    local group = item.group ~= '' and ledger.group_of(item.group)
    if not group or ledger.has_room(group) then return item end
    if not ledger.has_work() then return nil end
    ledger.shut(item, group)
    ledger.put_group(group)
  end
end

-- After the limit of groups was changed, readmits the groups that have room now.
function ledger.reopen()
  while head.reopen do
    local group = ledger.full_group_after(head.reopen)
    if not group then
      head.reopen = nil
      return
    end
    if not ledger.has_work() then return end
    ledger.open_first(group)
    ledger.put_group(group)
    head.reopen = group.name
  end
end

-- Puts items that fell due into the order, as if they had been pushed when they were due.
function ledger.take_due()
  while head.delayed > 0 and head.first_due <= now do
    local item = ledger.sure_item('d')
    head.first_due = item.at
    if item.at > now or not ledger.has_work() then return end
    head.delayed = head.delayed - 1
    item.rank = ledger.rank(item.at, item)
    ledger.make_ready(item)
  end
end

-- Puts an item that is in no order aside until it is due.
function ledger.delay(item, due)
  head.delayed = head.delayed + 1
  item.standing, item.at = 'd', min(due, UNBOUNDED)
  ledger.put_item(item)
end

function ledger.put_back(item, delay)
  if delay == 0 then return ledger.make_ready(item) end
  ledger.delay(item, now + delay)
end

function ledger.remove_waiting(item)
  local standing = item.standing
  ledger.remove_item(item)
  if standing == 'd' then
    head.delayed = max(head.delayed - 1, 0)
  else
    ledger.leave_ready(item, standing == 'o', 0)
  end
end

-- Takes an item out of work. It is in no order until it is put into one.
function ledger.stop_work(item)
  head.in_work = max(head.in_work - 1, 0)
  ledger.make_room(item.group)
end
