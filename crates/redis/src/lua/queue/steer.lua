-- steer: executes the requests of operators: limits, pauses, cancelling, dead letters.
-- keys   records order
-- args   cancel: number, and `waiting` to spare what is in work; replay, drop: number; purge: what;
--        configure: what value
-- reply  cancelled unknown replayed dropped purged configured
-- error  SEINPAALARGUMENT
-- cost   grows with the items that one call ends

local WAS = { o = 'ready', r = 'ready', d = 'delayed', w = 'in-work' }

-- Gives an operation about the item with a number.
function ledger.about_item(execute)
  return function(text)
    local number = ledger.item_number(text)
    return function() return execute(ledger.item_of(number), text) end
  end
end

function ledger.cancel(item, shown, spares_work)
  if not item or item.standing == 'x' or (item.standing == 'w' and spares_work) then
    return 'unknown ' .. shown
  end
  ledger.forget_key_of(item)
  local was = WAS[item.standing]
  if item.standing == 'w' then
    ledger.wake_lost(item)
    ledger.stop_work(item)
    ledger.remove_item(item)
  else
    ledger.remove_waiting(item)
  end
  return 'cancelled ' .. shown .. ' ' .. was
end

function ledger.operations.cancel(text)
  local shown, which = match(text, '^(%d+) ?(%a*)$')
  local number = ledger.item_number(shown)
  if which ~= '' and which ~= 'waiting' then
    ledger.refuse('SEINPAALARGUMENT', 'cancel, or cancel what is waiting')
  end
  return function() return ledger.cancel(ledger.item_of(number), shown, which == 'waiting') end
end

-- Replays a dead item: it goes to the end of the line, and all its deliveries are allowed anew. Its
-- history stays.
ledger.operations.replay = ledger.about_item(function(item, shown)
  if not item or item.standing ~= 'x' then return 'unknown ' .. shown end
  head.dead = max(head.dead - 1, 0)
  item.attempt, item.rank = 0, ledger.rank(ledger.next_number(), item)
  ledger.make_ready(item)
  return 'replayed ' .. shown
end)

function ledger.drop(item)
  head.dead = max(head.dead - 1, 0)
  ledger.remove_item(item)
end

ledger.operations.drop = ledger.about_item(function(item, shown)
  if not item or item.standing ~= 'x' then return 'unknown ' .. shown end
  ledger.drop(item)
  return 'dropped ' .. shown
end)

function ledger.next_to_purge(what)
  if what == 'dead' then return head.dead > 0 and ledger.first_item('x', '64') end
  if head.open > 0 then return ledger.first_item('o', '64') end
  local group = head.ready > 0 and ledger.full_group_after('')
  if group then return ledger.first_item('g' .. group.name .. '\0', '64') end
  return head.delayed > 0 and ledger.first_item('d', '64')
end

-- Removes all waiting or all dead items, as many as one call may. The client that purges asks again
-- for the rest, so the call has no backlog of its own.
function ledger.purge(what)
  local removed, had_backlog = 0, ledger.has_backlog
  while true do
    local item = ledger.next_to_purge(what)
    if not item then return format('purged %d 0', removed) end
    if not ledger.has_work() then
      ledger.has_backlog = had_backlog
      return format('purged %d 1', removed)
    end
    if what == 'dead' then
      ledger.drop(item)
    else
      ledger.forget_key_of(item)
      ledger.remove_waiting(item)
    end
    removed = removed + 1
  end
end

function ledger.operations.purge(what)
  if what ~= 'waiting' and what ~= 'dead' then
    ledger.refuse('SEINPAALARGUMENT', 'purge waiting or dead')
  end
  return function() return ledger.purge(what) end
end

-- Lowering a limit ends no delivery, and admits none until few enough are in work.
local change = {}

function change.limit(value) head.limit = value ~= '-' and tonumber(value) or nil end

function change.group(value)
  head.group_limit = value ~= '-' and tonumber(value) or nil
  head.reopen = ''
  ledger.reopen()
end

function change.pause(reason) head.paused = reason end

function change.resume() head.paused = nil end

function ledger.operations.configure(text)
  local what, value = match(text, '^(%a+) (.*)$')
  if not change[what or ''] then
    ledger.refuse('SEINPAALARGUMENT', 'limit, group, pause or resume')
  end
  local is_limit = what == 'limit' or what == 'group'
  if is_limit and value ~= '-' then ledger.number(value, 0, MOST_LIMIT, 'a limit') end
  return function()
    change[what](value)
    local limit, group = head.limit and format('%d', head.limit),
      head.group_limit and format('%d', head.group_limit)
    return 'configured ' .. (limit or '-') .. ' ' .. (group or '-')
  end
end
