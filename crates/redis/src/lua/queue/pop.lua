-- pop: this operation takes items to work on, or a place in line.
-- keys   records order
-- args   POP
-- reply  popped
-- error  SEINPAALARGUMENT
-- cost   two ZRANGEBYLEX, one HMGET for the items and one for their payloads
--
-- The answer has, of each item, a line and the payload.

-- Reads, in one go, what is likely to be delivered.
function ledger.read_ahead(most)
  local fields, numbers = {}, {}
  local page = call('zrangebylex', order, '[o', '(p', 'limit', '0', format('%d', most))
  for _, member in ipairs(page) do
    local number = read(NUMBER, member, 10)
    if ledger.items[number] == nil then
      numbers[#numbers + 1], fields[#fields + 1] = number, 'i' .. sub(member, 10)
    end
  end
  ledger.windows.o = ledger.windows.o or page
  page.at, page.from, page.to, page.is_whole = 1, '(' .. (page[#page] or ''), '(p', #page < most
  if #fields == 0 then return end
  for i, text in ipairs(call('hmget', records, unpack(fields))) do
    if text then ledger.take_item(numbers[i], text) end
  end
end

function ledger.deliver(item, ask)
  head.in_work = head.in_work + 1
  head.bound = min(head.bound, ask.margin)
  local was_open = item.standing == 'o'
  item.attempt, item.standing, item.fence = item.attempt + 1, 'w', ledger.next_number()
  item.by, item.worked_about, item.since, item.ttl = asker, ask.about, now, ask.ttl
  item.ends, item.ends_wall = head.clock + ask.ttl, now + ask.ttl
  ledger.put_item(item)
  ledger.leave_ready(item, was_open, 1)
  ledger.room = max(ledger.room - item.bytes, 0)
end

-- Payloads come last, in one go.
function ledger.read_payloads(items)
  local fields = {}
  for _, item in ipairs(items) do
    local field = 'p' .. pack(NUMBER, item.number)
    if ledger.fields[field] == nil then fields[#fields + 1] = field end
  end
  if #fields == 0 or ledger.is_fresh then return end
  for i, text in ipairs(call('hmget', records, unpack(fields))) do ledger.fields[fields[i]] = text end
end

function ledger.popped(items)
  ledger.read_payloads(items)
  local least, answer, kept = nil, { '' }, {}
  for i, item in ipairs(items) do
    local left = max(item.ends - head.clock, 0)
    least = least and min(least, left) or left
    answer[2 * i] = format('%d %d %d %d %d %d %d ', item.number, item.fence, item.attempt, item.most, item.priority,
      item.pushed, #item.group) .. item.group .. item.about
    answer[2 * i + 1] = ledger.whole_payload_of(item)
    kept[i] = format('%d:%d', item.number, item.fence)
  end
  answer[1] = format('popped %d %d', least or 0, head.ready + head.delayed + head.in_work)
  return answer, 'popped ' .. concat(kept, ',')
end

-- The answer to a pop was lost: the same items again, but for those that are over.
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

function ledger.pop(ask)
  ledger.leave_line(asker)
  local items, at_once = {}, format('%d', ask.items)
  if ask.items > 1 and head.open > 0 and not ledger.is_fresh and not ledger.windows.o then ledger.read_ahead(ask.items) end
  while #items < ask.items and ledger.delivers() do
    local item = ledger.next_open(at_once)
    if not item or (#items > 0 and item.bytes > ledger.room) then break end
    ledger.deliver(item, ask)
    items[#items + 1] = item
  end
  local want = ask.items - #items
  if ask.wait and want > 0 then ledger.stand_in_line(want, ask.drains) end
  return ledger.popped(items)
end

ledger.readers[POP] = function(at)
  local _, items, ttl, margin, wait, drains, about, next_at = ledger.take(POP_TERMS, at)
  local ask = {
    items = ledger.number(items, 1, MOST_ITEMS, 'the number of items'), ttl = ledger.number(ttl, MIN_TTL, MAX_TTL, 'the ttl'),
    margin = ledger.moment(margin, 'the margin'), wait = wait == 1, drains = drains == 1 and '0' or '1', about = about,
  }
  ledger.check_text(about, MOST_TEXT, 'what is said about a worker')
  return function() return ledger.pop(ask) end, next_at, 'pop'
end

function ledger.operations.leave()
  return function()
    ledger.leave_line(asker)
    return 'left'
  end
end
