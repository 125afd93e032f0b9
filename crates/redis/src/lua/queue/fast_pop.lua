-- fast_pop: this piece of the fast path pops items.
-- keys   records order
-- args   none of its own
-- reply  popped
-- cost   one ZRANGEBYLEX, one HMGET for the items and one for their payloads
--
-- An item that has a group is not plain.

    if pop then
      local most = max(min(pop_items, open, limit >= 0 and limit - in_work or open), 0)
      local row, room, count = { '', nil, nil, nil }, MOST_PAYLOAD, 0
      keeps = keeps + 1
      kept[keeps] = '\3'
      if most > 0 then
        local page, wants = try('zrangebylex', order, '[o', '(p', 'limit', '0', format('%d', most)), {}
        if #page ~= most then break end
        for i = 1, most do wants[i] = 'i' .. sub(page[i], 10) end
        local texts = try('hmget', records, unpack(wants))
        local ends, ends_wall = clock + pop_ttl, now + pop_ttl
        for i, member in ipairs(page) do
          local item, id = texts[i], sub(member, 10)
          is_plain = item and #item >= ITEM_BYTES and byte(item) == 111 and byte(item, 31) + byte(item, 32) == 0
          if not is_plain then break end -- it is not open, or has a group
          local _, priority, allowed, bytes, attempt, pushed, rank, _, key, about, past = read(ITEM, item)
          if i > 1 and bytes > room then break end
          count, room, last = i, max(room - bytes, 0), max(last + 1, now)
          attempt = attempt + 1
          set[#set + 1] = 'i' .. id
          set[#set + 1] = pack(ITEM_AT_WORK, 'w', priority, allowed, bytes, attempt, pushed, rank, 0, key, about, past, #pop_about, last, now,
            pop_ttl, ends, ends_wall, asker, sub(item, ITEM_BYTES + 1), pop_about)
          about = about > 0 and sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + about) or ''
          local entry = id .. pack(NUMBER, last)
          if lists < MOST_LISTED then
            lists = lists + 1
            list[lists] = entry
          else
            local n = #add
            add[n + 1], add[n + 2], add[n + 3], add[n + 4] = '0', 'e' .. pack(NUMBER, ends) .. id, '0', 'w' .. pack(NUMBER, ends_wall) .. id
          end
          remove[#remove + 1] = member
          keeps = keeps + 1
          kept[keeps], wants[i] = entry, 'p' .. id
          row[2 * i] = pack(POPPED, id, last, pushed, attempt, allowed, priority, about)
        end
        if not is_plain then break end
        local payloads = try('hmget', records, unpack(wants, 1, count))
        for i = 1, count do
          row[2 * i + 1], is_plain = payloads[i], is_plain and payloads[i] and true
        end
        if not is_plain then break end
        in_work, ready, open = in_work + count, ready - count, open - count
        bound = min(bound, pop_margin)
        first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)
      end
      if count < pop_items and pop_wait == 1 then break end
      row[1] = format('popped %d %d', count > 0 and pop_ttl or 0, ready + delayed + in_work)
      answer[#asks + 2] = row
    end
    listed = concat(list)
  end
