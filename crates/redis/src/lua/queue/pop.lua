-- pop: gives a worker items to work on, or a place in line.
-- keys   records order
-- args   POP
-- reply  popped
-- error  SEINPAALARGUMENT
-- cost   two ZRANGEBYLEX; two HGET for each item
--
-- For each item the answer has a line and the payload.

function ledger.deliver(item, pop)
  head.in_work = head.in_work + 1
  head.bound = min(head.bound, pop.margin)
  local was_open = item.standing == 'o'
  item.attempt, item.standing, item.fence = item.attempt + 1, 'w', ledger.next_number()
  item.by, item.worked_about, item.since, item.ttl = asker, pop.about, now, pop.ttl
  item.ends, item.ends_wall = head.clock + pop.ttl, now + pop.ttl
  ledger.put_item(item)
  ledger.leave_ready(item, was_open, 1)
  ledger.room = max(ledger.room - item.bytes, 0)
end

function ledger.popped(items)
  local least, answer, kept = nil, { '' }, {}
  for i, item in ipairs(items) do
    local left = max(item.ends - head.clock, 0)
    least = least and min(least, left) or left
    answer[2 * i] = format('%d %d %d %d %d %d %d ', item.number, item.fence, item.attempt,
      item.most, item.priority, item.pushed, #item.group) .. item.group .. item.about
    answer[2 * i + 1] = ledger.whole_payload_of(item)
    kept[i] = format('%d:%d', item.number, item.fence)
  end
  answer[1] = format('popped %d %d', least or 0, head.ready + head.delayed + head.in_work)
  return answer, 'popped ' .. concat(kept, ',')
end

-- Answers a pop whose answer was lost, with the same items but for those that are over.
function ledger.deliver_again(line)
  local items = {}
  for number, fence in string.gmatch(line, '(%d+):(%d+)') do
    local item = ledger.in_work(tonumber(number), tonumber(fence))
    if item then
      items[#items + 1] = item
      ledger.room = max(ledger.room - item.bytes, 0)
    end
  end
  return ledger.popped(items)
end

function ledger.pop(pop)
  ledger.leave_line(asker)
  local items, at_once = {}, format('%d', pop.items)
  while #items < pop.items and ledger.delivers() do
    local item = ledger.next_open(at_once)
    if not item or (#items > 0 and item.bytes > ledger.room) then break end
    ledger.deliver(item, pop)
    items[#items + 1] = item
  end
  local want = pop.items - #items
  if pop.wait and want > 0 then ledger.stand_in_line(want, pop.drains) end
  return ledger.popped(items)
end

ledger.readers[POP] = function(at)
  local _, items, ttl, margin, wait, drains, about, next_at = ledger.take(POP_TERMS, at)
  local pop = {
    items = ledger.number(items, 1, MOST_ITEMS, 'the number of items'),
    ttl = ledger.number(ttl, MIN_TTL, MAX_TTL, 'the ttl'),
    margin = ledger.moment(margin, 'the margin'), wait = wait == 1,
    drains = drains == 1 and '0' or '1', about = about,
  }
  ledger.check_text(about, MOST_TEXT, 'what is said about a worker')
  return function() return ledger.pop(pop) end, next_at, 'pop'
end

function ledger.operations.leave()
  return function()
    ledger.leave_line(asker)
    return 'left'
  end
end
