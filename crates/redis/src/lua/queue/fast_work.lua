-- fast_work: the third quarter of the fast path: pushes; or renewals, acknowledgements and a pop.
-- keys   records order
-- args   none of its own
-- reply  pushed renewed acknowledged lost popped
-- cost   for a pop one ZRANGEBYLEX and two HMGET; one if it is for one item
--
-- What has a group is not plain, but for being renewed.

  if is_push then
    local at, n, line = FIRST_REQUEST, 0, nil
    if requests > 128 then break end
    while at <= #ARGV do
      local ask, payload = ARGV[at], ARGV[at + 1]
      is_plain = byte(ask, 5) == 58 and payload and #payload <= MOST_BYTES and #ask >= 10 and #ask <= 10 + MOST_TEXT
      if not is_plain then break end
      local priority, most = read(PUSH, ask, 6)
      local about = #ask > 10 and sub(ask, 11) or ''
      last = max(last + 1, now)
      is_plain = priority >= -100 and priority <= 100 and most >= 1 and most <= MOST_DELIVERIES
      if not is_plain then break end
      local rank, id = last - priority * AGING, pack(NUMBER, last)
      set[2 * n + 1], set[2 * n + 2] = 'i' .. id, pack(ITEM, 'o', priority, most, #payload, 0, now, rank, 0, 0, #about, 0, 0) .. about
      set[2 * n + 3], set[2 * n + 4] = 'p' .. id, payload
      add[#add + 1] = '0'
      add[#add + 1] = 'o' .. pack(NUMBER, rank + RANK_BIAS) .. id
      line, at, n = format('pushed %d', last), at + 2, n + 2
      answer[n / 2 + 1] = line
    end
    if not is_plain then break end
    ready, open = ready + n / 2, open + n / 2
    lines = n == 2 and line or concat(answer, '\n', 2)
  else
    local touched = nil
    lines, del, remove = { nil, nil }, { nil, nil }, {}
    local named = 2 -- of the fields, those whose text was used
    for i, ask in ipairs(asks) do
      local ttl, margin, lost = ask.ttl, ask.margin, nil
      local deliveries = ttl and ask[1]
      for k = 1, ttl and #deliveries or 1 do
        local delivery, is_it = ttl and deliveries[k] or ask, false
        local field, fence, id = delivery[1], delivery[2], delivery[3]
        named = named + 1
        local item = found[named]
        if touched and touched[field] then is_plain = false end
        if is_plain and item and byte(item) == 119 then -- w: in work
          if #item < ITEM_BYTES + WORKED_BYTES then
            is_plain = false
            break
          end
          local its_fence, since, _, ends, ends_wall = read(WORKED, item, ITEM_BYTES + 1)
          is_it = its_fence == fence
          if is_it then
            local suffix = sub(field, 2)
            local at = find(listed, suffix, 1, true)
            while at and at % 8 ~= 1 do at = find(listed, suffix, at + 1, true) end
            if not at then
              remove[#remove + 1] = 'e' .. pack(NUMBER, ends) .. suffix
              remove[#remove + 1] = 'w' .. pack(NUMBER, ends_wall) .. suffix
            end
            if #fields > 3 then
              touched = touched or {}
              touched[field] = true
            end
            if ttl then
              ends, ends_wall = clock + ttl, now + ttl
              first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)
              set[#set + 1] = field
              set[#set + 1] = sub(item, 1, ITEM_BYTES) .. pack(WORKED, its_fence, since, ttl, ends, ends_wall, asker)
                .. sub(item, ITEM_BYTES + WORKED_BYTES + 1)
              if not at then
                local n = #add
                add[n + 1], add[n + 2], add[n + 3], add[n + 4] = '0', 'e' .. pack(NUMBER, ends) .. suffix, '0', 'w' .. pack(NUMBER, ends_wall) .. suffix
              end
              bound = min(bound, margin)
            else
              if byte(item, 31) + byte(item, 32) > 0 then is_plain = false end -- it has a group
              in_work, listed = in_work - 1, at and sub(listed, 1, at - 1) .. sub(listed, at + 8) or listed
              del[#del + 1] = field
              del[#del + 1] = 'p' .. suffix
            end
          end
        end
        if not is_it then
          lost = lost or {}
          lost[#lost + 1] = delivery[4]
        end
      end
      if ttl then
        lines[i] = format('renewed %d ', ttl) .. (lost and concat(lost, ',') or '')
      else
        lines[i] = (lost and 'lost ' or 'acknowledged ') .. ask[3]
      end
      answer[i + 1] = lines[i]
    end
    if not is_plain then break end

    if pop then
      local ttl = pop_ttl
      local most = max(min(pop_items, open, limit >= 0 and limit - in_work or open), 0)
      local row, kept, room, count = { '', nil, nil, nil }, {}, MOST_PAYLOAD, 0
      if most > 0 then
        local page = try('zrangebylex', order, '[o', '(p', 'limit', '0', most == 1 and '1' or format('%d', most))
        if #page ~= most then break end
        local first, wants = sub(page[1], 10), most > 1 and {}
        for i = 1, wants and most or 0 do wants[i] = 'i' .. sub(page[i], 10) end
        local texts = wants and try('hmget', records, unpack(wants)) or try('hmget', records, 'p' .. first, 'i' .. first)
        local ends, ends_wall = clock + ttl, now + ttl
        for i, member in ipairs(page) do
          local item, id = wants and texts[i] or texts[2], sub(member, 10)
          is_plain = item and #item >= ITEM_BYTES and byte(item) == 111 and byte(item, 31) + byte(item, 32) == 0
          if not is_plain then break end -- it is not open, or has a group
          local _, priority, allowed, bytes, attempt, pushed, rank, _, key, about, past = read(ITEM, item)
          if i > 1 and bytes > room then break end
          count, room, last = i, max(room - bytes, 0), max(last + 1, now)
          attempt = attempt + 1
          set[#set + 1] = 'i' .. id
          set[#set + 1] = pack(ITEM_AT_WORK, 'w', priority, allowed, bytes, attempt, pushed, rank, 0, key, about, past, #pop_about, last, now,
            ttl, ends, ends_wall, asker, sub(item, ITEM_BYTES + 1)) .. pop_about
          about = about > 0 and sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + about) or ''
          if #listed < MOST_LISTED then
            listed = listed .. id
          else
            local n = #add
            add[n + 1], add[n + 2], add[n + 3], add[n + 4] = '0', 'e' .. pack(NUMBER, ends) .. id, '0', 'w' .. pack(NUMBER, ends_wall) .. id
          end
          remove[#remove + 1] = member
          local number = read(NUMBER, id)
          kept[i] = format('%d:%d', number, last)
          row[2 * i] = format('%d %d %d %d %d %d 0 ', number, last, attempt, allowed, priority, pushed) .. about
          if wants then wants[i] = 'p' .. id end
        end
        if not is_plain then break end
        local payloads = wants and try('hmget', records, unpack(wants, 1, count)) or texts
        for i = 1, count do
          row[2 * i + 1], is_plain = payloads[i], is_plain and payloads[i] and true
        end
        if not is_plain then break end
        in_work, ready, open = in_work + count, ready - count, open - count
        bound = min(bound, pop_margin)
        first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)
      end
      if count < pop_items and pop_wait == 1 then break end
      row[1] = format('popped %d %d', count > 0 and ttl or 0, ready + delayed + in_work)
      answer[#asks + 2], lines[#asks + 1] = row, 'popped ' .. (kept[2] and concat(kept, ',') or kept[1] or '')
    end
    lines = lines[2] and concat(lines, '\n') or lines[1] or ''
  end
