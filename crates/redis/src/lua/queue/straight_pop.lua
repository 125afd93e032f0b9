-- straight_pop: pops items on the straight path.
-- keys   records order
-- args   none of its own
-- reply  now left, and of each item a string (POPPED) and the payload
-- cost   one ZRANGEBYLEX; two HGET for each item
--
-- An item that has a group is not plain, and neither is a pop that would have to wait in line.

  if what == POP then
    local ok, _, items, ttl, margin, wait, drains, about, next_at = pcall(read, POP_TERMS, line, at)
    if not ok or items < 1 or items > MOST_ITEMS
        or not (ttl >= MIN_TTL and ttl <= MAX_TTL and margin >= 0) or #about > MOST_TEXT then
      break
    end
    what = byte(line, next_at)
    local most, count = items, 0
    if open < most then most = open end
    if limit >= 0 and limit - in_work < most then most = limit - in_work end
    answer = { now, 0, nil, nil }
    local entries = ''
    if most > 0 then
      local page, listing, room =
        try('zrangebylex', order, '[o', '(p', 'limit', '0', string.format('%d', most)),
        { nil }, MOST_PAYLOAD
      local ends, ends_wall, has_room = clock + ttl, now + ttl,
        #listed + most * LISTED_BYTES <= MOST_LISTED * LISTED_BYTES
      if #page ~= most then break end
      if not has_room then add = add or {} end
      for i = 1, most do
        local id = sub(page[i], 10)
        local item, payload = try('hget', records, 'i' .. id), try('hget', records, 'p' .. id)
        is_plain = item and payload and #item >= ITEM_BYTES and byte(item, 31) + byte(item, 32) == 0
        -- The item has a group, or its record or payload is gone.
        if not is_plain then break end
        local _, priority, allowed, bytes, attempt, pushed, rank, _, key, its_about, past =
          read(ITEM, item)
        if i > 1 and bytes > room then break end
        count, room, last, attempt = i, room - bytes, last < now and now or last + 1, attempt + 1
        local n = #set
        set[n + 1], set[n + 2] = 'i' .. id, pack(ITEM_AT_WORK, 'w', priority, allowed, bytes,
          attempt, pushed, rank, 0, key, its_about, past, #about, last, now, ttl, ends, ends_wall,
          sub(field, 2), sub(item, ITEM_BYTES + 1), about)
        listing[i] = id .. pack(NUMBER, last)
        if not has_room then
          n = #add
          add[n + 1], add[n + 2], add[n + 3], add[n + 4] = '0', 'e' .. pack(NUMBER, ends) .. id,
            '0', 'w' .. pack(NUMBER, ends_wall) .. id
        end
        answer[2 * i + 1] = pack(POPPED, id, last, pushed, attempt, allowed, priority,
          sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + its_about))
        answer[2 * i + 2] = payload
      end
      if not is_plain then break end
      for i = remove and 1 or count + 1, most do
        if i > count then page[i] = nil else remove[#remove + 1] = page[i] end
      end
      remove = remove or page
      in_work, ready, open = in_work + count, ready - count, open - count
      if ends < first_end then first_end = ends end
      if ends_wall < first_wall then first_wall = ends_wall end
      if margin < bound then bound = margin end
      entries = table.concat(listing)
      if has_room then listed = listed .. entries end
    end
    if count < items and wait == 1 then break end
    answer[2], kept = ready + delayed + in_work, kept .. pack(KEPT_POPPED, POP, #entries, entries)
  end
