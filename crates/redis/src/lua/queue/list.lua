-- list: reads a page of the items of one state. It changes nothing.
-- keys   records order
-- args   list: rows place
-- reply  items place, and for each item a line and the beginning of its payload
-- error  SEINPAALARGUMENT
-- cost   one or two ZRANGEBYLEX, and two HGET for each row; at most MOST_ROWS rows and MOST_PAYLOAD
--        bytes of payload
--
-- A place is LETTER:KEY:NUMBER:GROUP, where the letter is that of the order. A page has the items
-- behind the place. Of the ready items, the items of groups (g) come first, and then the items
-- without a group, from the order of all (o). The answer has the place where the next page begins,
-- or - if there is none.

local MOST_ROWS = 1000
local LISTS = { o = 'o', g = 'or', d = 'd', e = 'w', x = 'x' }

-- Gives the text behind which the members after the place stand in their order.
function ledger.behind(place)
  local key, number = place.key, place.number
  if place.letter == 'x' then return pack(NUMBER, number) end
  if place.letter == 'd' or place.letter == 'e' then return pack(TWO, max(key, 0), number) end
  local rank = pack(TWO, max(key + RANK_BIAS, 0), number)
  if place.letter == 'o' then return rank end
  return place.group == '' and '' or place.group .. '\0' .. rank
end

function ledger.place_of(letter, item)
  local key = item.rank
  if letter == 'd' then
    key = item.at
  elseif letter == 'e' then
    key = item.ends
  elseif letter == 'x' then
    key = 0
  end
  return { letter = letter, key = key, number = item.number,
    group = letter == 'g' and item.group or '' }
end

-- Gives a row's words about the item's state: when it is due or died, or the worker that works on
-- it.
function ledger.said_of(item)
  if item.standing == 'd' or item.standing == 'x' then return format('%d', item.at) end
  if item.standing ~= 'w' then return '-' end
  return format('%d:%d:%d:%s', item.fence, max(now - item.since, 0),
    max(item.ends - head.clock, 0), item.by)
end

function ledger.item_row(item)
  local worked_about = item.standing == 'w' and item.worked_about or ''
  return format('%s %d %d %d %d %d %d %s %d %d %d ', item.standing, item.number, item.attempt,
    item.most, item.priority, item.pushed, item.bytes, ledger.said_of(item), #item.group,
    #item.about, #item.history) .. item.group .. item.about .. item.history .. worked_about
end

function ledger.item_listed_in(letter, member)
  local item = ledger.listed_item(member)
  if not string.find(LISTS[letter], item.standing, 1, true) then
    ledger.corrupt(format('item %d is listed as what it is not', item.number))
  end
  return item
end

function ledger.page(answer, place)
  answer[1] = 'items '
    .. (place and format('%s:%d:%d:%s', place.letter, place.key, place.number, place.group) or '-')
  return answer
end

-- Gives a page. A client that asks for more rows, or more payload, than one call may read gets
-- fewer, and asks again.
function ledger.list_items(at, left)
  local answer, room = { '' }, MOST_PAYLOAD
  while true do
    local found = ledger.members(at.letter, ledger.behind(at), format('%d', left))
    for _, member in ipairs(found) do
      local item = ledger.item_listed_in(at.letter, member)
      local is_elsewhere = at.letter == 'o' and item.group ~= ''
      if not is_elsewhere then
        if item.bytes > room and answer[2] then return ledger.page(answer, at) end
        room = max(room - item.bytes, 0)
        answer[#answer + 1] = ledger.item_row(item)
        answer[#answer + 1] = sub(ledger.payload_of(item), 1, PREVIEW)
      end
      at = ledger.place_of(at.letter, item)
    end
    if #found == left then return ledger.page(answer, at) end
    if at.letter ~= 'g' then return ledger.page(answer, nil) end
    at, left = { letter = 'o', key = -UNBOUNDED, number = 0, group = '' }, left - #found
  end
end

function ledger.operations.list(text)
  local rows, letter, key, number, group = match(text, '^(%d+) (%a):(%-?%d+):(%d+):(.*)$')
  if not LISTS[letter or ''] then ledger.refuse('SEINPAALARGUMENT', 'a place in a list') end
  rows = ledger.number(rows, 0, 4294967295, 'the number of rows')
  key = ledger.number(key, -UNBOUNDED, UNBOUNDED, 'a place in a list')
  ledger.check_text(group, 512, 'the name of a group')
  local place = { letter = letter, key = key, number = ledger.item_number(number), group = group }
  return function() return ledger.list_items(place, min(max(rows, 1), MOST_ROWS)), 'left' end
end
