-- fast_work: the third quarter of the fast path: pushes; or renewals, acknowledgements and a pop.
-- keys   records order
-- args   none of its own
-- reply  pushed renewed acknowledged lost popped
-- cost   for a pop one ZRANGEBYLEX and two HMGET; one if it is for one item
--
-- What has a group is not plain, but for being renewed.

  for i = 1, pushes do
    local priority, most, about, payload = unpack(asks[i])
    priority, most = priority + 0, most + 0
    is_plain = is_plain and priority >= -100 and priority <= 100 and most >= 1 and most <= MOST_DELIVERIES
    last = max(last + 1, now)
    local rank, id = last - priority * AGING, pack(NUMBER, last)
    local n = 4 * i
    set[n - 3], set[n - 2] = 'i' .. id, pack(ITEM, 'o', priority, most, #payload, 0, now, rank, 0, '', 0, '', #about, about, 0, '')
    set[n - 1], set[n] = 'p' .. id, payload
    add[#add + 1] = '0'
    add[#add + 1] = 'o' .. pack(NUMBER, rank + RANK_BIAS) .. id
    lines[i] = format('pushed %d', last)
    answer[i + 1] = lines[i]
  end
  if not is_plain then break end
  ready, open = ready + pushes, open + pushes

  local texts, touched = {}, {}
  for i = 3, #fields do texts[fields[i]] = found[i] end
  for i = pushes + 1, pop and #asks - 1 or #asks do
    local ask = asks[i]
    local ttl, margin, lost = ask.ttl, ask.margin, {}
    for _, delivery in ipairs(ttl and ask[1] or { ask }) do
      local field, fence, id = delivery[1], delivery[2] + 0, delivery[3]
      local item, is_it = texts[field], false
      if item and byte(item) == 119 then -- w: in work
        local is_whole, _, _, _, _, _, _, _, group, _, _, _, tail = pcall(read, ITEM, item)
        local has_work, its_fence, _, since, _, ends, ends_wall, about = pcall(read, WORKED, item, is_whole and tail or 0)
        is_plain = is_plain and is_whole and has_work
        is_it = is_plain and its_fence == fence
        is_plain = is_plain and not touched[field] and (ttl or group == '' or not is_it)
        if is_it then
          local suffix = sub(field, 2)
          remove[#remove + 1] = 'e' .. pack(NUMBER, ends) .. suffix
          remove[#remove + 1] = 'w' .. pack(NUMBER, ends_wall) .. suffix
          touched[field] = true
          if ttl then
            ends, ends_wall = clock + ttl, now + ttl
            first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)
            set[#set + 1] = field
            set[#set + 1] = sub(item, 1, tail - 1) .. pack(WORKED, its_fence, asker, since, ttl, ends, ends_wall, #about, about)
            add[#add + 1] = '0'
            add[#add + 1] = 'e' .. pack(NUMBER, ends) .. suffix
            add[#add + 1] = '0'
            add[#add + 1] = 'w' .. pack(NUMBER, ends_wall) .. suffix
            bound = min(bound, margin)
          else
            in_work, texts[field] = in_work - 1, false
            del[#del + 1] = field
            del[#del + 1] = 'p' .. suffix
          end
        end
      end
      if not is_it then lost[#lost + 1] = id .. ':' .. delivery[2] end
    end
    if ttl then
      lines[i] = format('renewed %d ', ttl) .. concat(lost, ',')
    else
      lines[i] = (lost[1] and 'lost ' or 'acknowledged ') .. ask[3]
    end
    answer[i + 1] = lines[i]
  end
  if not is_plain then break end

  if pop then
    local wanted_items, ttl = pop.items + 0, pop.ttl + 0
    local most = max(min(wanted_items, open, limit >= 0 and limit - in_work or open), 0)
    local row, room, ids, items, payloads = { '' }, MOST_PAYLOAD, {}, {}, nil
    if most > 0 then
      local page, wants = try('zrangebylex', order, '[o', '(p', 'limit', '0', format('%d', most)), {}
      if #page ~= most then break end
      for i, member in ipairs(page) do
        ids[i] = sub(member, 10)
        wants[i] = 'i' .. ids[i]
        remove[#remove + 1] = member
      end
      if most == 1 then wants[2] = 'p' .. ids[1] end
      local texts = try('hmget', records, unpack(wants))
      local count, least_removed = 0, #remove - most
      for i, id in ipairs(ids) do
        local item = texts[i]
        local is_whole, standing, priority, allowed, bytes, attempt, pushed, _, group, _, about = pcall(read, ITEM, item)
        if not is_whole or standing ~= 'o' or group ~= '' then
          is_plain = false
          break
        end
        if i > 1 and bytes > room then break end
        count, room, last = i, max(room - bytes, 0), max(last + 1, now)
        local fence, ends, ends_wall = last, clock + ttl, now + ttl
        set[#set + 1] = 'i' .. id
        set[#set + 1] = 'w' .. sub(item, 2, 10) .. pack('<I4', attempt + 1) .. sub(item, 15)
          .. pack(WORKED, fence, asker, now, ttl, ends, ends_wall, #pop.about, pop.about)
        add[#add + 1] = '0'
        add[#add + 1] = 'e' .. pack(NUMBER, ends) .. id
        add[#add + 1] = '0'
        add[#add + 1] = 'w' .. pack(NUMBER, ends_wall) .. id
        local shown = format('%d', read(NUMBER, id))
        items[i] = shown .. ':' .. format('%d', fence)
        row[2 * i] = shown .. format(' %d %d %d %d %d 0 ', fence, attempt + 1, allowed, priority, pushed) .. about
        wants[i] = 'p' .. id
      end
      if not is_plain then break end
      for i = #remove, least_removed + count + 1, -1 do remove[i] = nil end
      if most == 1 then
        payloads = { texts[2] }
      else
        payloads = try('hmget', records, unpack(wants, 1, count))
      end
      for i = 1, count do
        row[2 * i + 1] = payloads[i]
        is_plain = is_plain and payloads[i] and true
      end
      if not is_plain then break end
      in_work, ready, open = in_work + count, ready - count, open - count
      bound = min(bound, pop.margin)
      first_end, first_wall = min(first_end, clock + ttl), min(first_wall, now + ttl)
    end
    if #items < wanted_items and pop.wait == '1' then break end
    row[1] = format('popped %d %d', #items > 0 and ttl or 0, ready + delayed + in_work)
    answer[#asks + 1], lines[#asks] = row, 'popped ' .. concat(items, ',')
  end
