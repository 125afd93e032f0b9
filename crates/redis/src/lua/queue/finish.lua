-- finish: these operations renew deliveries, and end one.
-- keys   records order
-- args   renew: ttl margin number:fence...  acknowledge: number fence  giveback: number fence delay
--        fail: number fence delay reason
--        An acknowledgement of numbers below 2^53 travels packed.
-- reply  renewed acknowledged returned died lost
-- error  SEINPAALARGUMENT
-- cost   one HGET a delivery, two more if the item has a group

function ledger.delivery_of(text)
  if sub(text, 1, 1) == ':' and #text == 17 then text = format('%d %d', read(DELIVERY, text, 2)) end
  local number, fence, rest = match(text, '^(%d+) (%d+) ?(.*)$')
  if not number then ledger.refuse('SEINPAALARGUMENT', 'a delivery has a number and a fence') end
  return ledger.item_number(number), ledger.item_number(fence), rest, number
end

function ledger.operations.acknowledge(text)
  local number, fence, _, shown = ledger.delivery_of(text)
  return function()
    local item = ledger.in_work(number, fence)
    if not item then return 'lost ' .. shown end
    ledger.stop_work(item)
    ledger.remove_item(item)
    return 'acknowledged ' .. shown
  end
end

-- It does not count as a delivery.
function ledger.operations.giveback(text)
  local number, fence, rest, shown = ledger.delivery_of(text)
  local delay = ledger.moment(rest, 'the delay')
  return function()
    local item = ledger.in_work(number, fence)
    if not item then return 'lost ' .. shown end
    ledger.stop_work(item)
    item.attempt = max(item.attempt - 1, 0)
    ledger.put_back(item, delay)
    return 'returned ' .. shown
  end
end

function ledger.operations.fail(text)
  local number, fence, rest, shown = ledger.delivery_of(text)
  local delay, reason = match(rest, '^(%d+) ([^%c]*)$')
  delay = ledger.moment(delay, 'the delay')
  return function()
    local item = ledger.in_work(number, fence)
    if not item then return 'lost ' .. shown end
    ledger.stop_work(item)
    return ledger.fail(item, delay, 'failed\31' .. reason) .. ' ' .. shown
  end
end

-- Under the session that asks: so a delivery can be handed to another process.
function ledger.extend(item, ttl, margin)
  item.by, item.ttl, item.ends, item.ends_wall = asker, ttl, head.clock + ttl, now + ttl
  head.bound = min(head.bound, margin)
  ledger.put_item(item)
end

function ledger.renew(ttl, margin, deliveries)
  local lost = {}
  for number, fence in string.gmatch(deliveries, '(%d+):(%d+)') do
    local item = ledger.in_work(ledger.item_number(number), ledger.item_number(fence))
    if item then
      ledger.extend(item, ttl, margin)
    else
      lost[#lost + 1] = number .. ':' .. fence
    end
  end
  return format('renewed %d ', ttl) .. concat(lost, ',')
end

function ledger.operations.renew(text)
  local ttl, margin, deliveries = match(text, '^(%S+) (%S+) ([%d:,]*)$')
  ttl, margin = ledger.ttl_of(ttl), ledger.moment(margin, 'the margin')
  return function() return ledger.renew(ttl, margin, deliveries) end
end
