-- straight_pop: this piece of the straight path pops items.
-- keys   records order
-- args   none of its own
-- reply  now left, and of each item a string (POPPED) and the payload
-- cost   one ZRANGEBYLEX, one HMGET for the items and one for their payloads
--
-- An item that has a group is not plain, nor is a pop that would stand in line.

  if what == POP then
    local ok, _, items, ttl, margin, wait, drains, about, next_at = pcall(read, POP_TERMS, line, at)
    if not ok or items < 1 or items > MOST_ITEMS or not (ttl >= MIN_TTL and ttl <= MAX_TTL and margin >= 0) or #about > MOST_TEXT then break end
    what = byte(line, next_at)
    local most, count = items, 0
    if open < most then most = open end
    if limit >= 0 and limit - in_work < most then most = limit - in_work end
    answer = { now, 0, nil, nil }
    local entries = { nil }
    if most > 0 then
      local page, wants = try('zrangebylex', order, '[o', '(p', 'limit', '0', string.format('%d', most)), { nil }
      if #page ~= most then break end
      for i = 1, most do wants[i] = 'i' .. sub(page[i], 10) end
      local texts, room, has_room = try('hmget', records, unpack(wants)), MOST_PAYLOAD, #listed + most * LISTED_BYTES <= MOST_LISTED * LISTED_BYTES
      local ends, ends_wall = clock + ttl, now + ttl
      for i = 1, most do
        local item, id = texts[i], sub(page[i], 10)
        is_plain = item and #item >= ITEM_BYTES and byte(item, 31) + byte(item, 32) == 0
        if not is_plain then break end -- it has a group
        local _, priority, allowed, bytes, attempt, pushed, rank, _, key, its_about, past = read(ITEM, item)
        if i > 1 and bytes > room then break end
        count, room, last, attempt = i, room - bytes, last < now and now or last + 1, attempt + 1
        local n = #set
        set[n + 1], set[n + 2] = 'i' .. id, pack(ITEM_AT_WORK, 'w', priority, allowed, bytes, attempt, pushed, rank, 0, key, its_about, past,
          #about, last, now, ttl, ends, ends_wall, sub(field, 2), sub(item, ITEM_BYTES + 1), about)
        entries[i], wants[i], remove[#remove + 1] = id .. pack(NUMBER, last), 'p' .. id, page[i]
        if not has_room then
          n = #add
          add[n + 1], add[n + 2], add[n + 3], add[n + 4] = '0', 'e' .. pack(NUMBER, ends) .. id, '0', 'w' .. pack(NUMBER, ends_wall) .. id
        end
        answer[2 * i + 1] = pack(POPPED, id, last, pushed, attempt, allowed, priority, sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + its_about))
      end
      if not is_plain then break end
      local payloads = try('hmget', records, unpack(wants, 1, count))
      for i = 1, count do
        answer[2 * i + 2], is_plain = payloads[i], is_plain and payloads[i]
      end
      if not is_plain then break end
      in_work, ready, open = in_work + count, ready - count, open - count
      if ends < first_end then first_end = ends end
      if ends_wall < first_wall then first_wall = ends_wall end
      if margin < bound then bound = margin end
      entries = table.concat(entries)
      if has_room then listed = listed .. entries end
    else
      entries = ''
    end
    if count < items and wait == 1 then break end
    answer[2], kept = ready + delayed + in_work, kept .. pack(KEPT_POPPED, POP, #entries, entries)
  end
