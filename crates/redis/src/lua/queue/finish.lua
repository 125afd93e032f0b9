-- finish: renews deliveries, or ends one.
-- keys   records order
-- args   RENEW, DONE  giveback: number fence delay  fail: number fence delay reason
-- reply  renewed acknowledged returned died lost
-- error  SEINPAALARGUMENT
-- cost   one HGET for each delivery, two more if the item has a group

function ledger.delivery_of(text)
  local number, fence, rest = match(text, '^(%d+) (%d+) ?(.*)$')
  return ledger.item_number(number), ledger.item_number(fence), rest, number
end

ledger.readers[DONE] = function(at)
  local number, fence, next_at = ledger.take(DELIVERY, at + 1)
  return function()
    local item = ledger.in_work(number, fence)
    if not item then return format('lost %d', number) end
    ledger.stop_work(item)
    ledger.remove_item(item)
    return format('acknowledged %d', number)
  end, next_at, 'acknowledge'
end

-- Gives a delivery back. The delivery does not count as an attempt.
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

-- The delivery goes under the session that asks, so a delivery can be handed to another process.
function ledger.extend(item, ttl, margin)
  item.by, item.ttl, item.ends, item.ends_wall = asker, ttl, head.clock + ttl, now + ttl
  head.bound = min(head.bound, margin)
  ledger.put_item(item)
end

-- Renews deliveries, and answers with the places in the request of the lost ones.
function ledger.renew(ttl, margin, deliveries)
  local lost = {}
  for at = 1, #deliveries, LISTED_BYTES do
    local item = ledger.in_work(read(DELIVERY, deliveries, at))
    if item then
      ledger.extend(item, ttl, margin)
    else
      lost[#lost + 1] = format('%d', (at - 1) / LISTED_BYTES)
    end
  end
  return format('renewed %d ', ttl) .. concat(lost, ',')
end

ledger.readers[RENEW] = function(at)
  local _, ttl, margin, deliveries, next_at = ledger.take(RENEW_TERMS, at)
  ledger.number(#deliveries / LISTED_BYTES, 0, MOST_RENEWED, 'the number of deliveries')
  ttl, margin = ledger.number(ttl, MIN_TTL, MAX_TTL, 'the ttl'), ledger.moment(margin, 'the margin')
  return function() return ledger.renew(ttl, margin, deliveries) end, next_at, 'renew'
end
