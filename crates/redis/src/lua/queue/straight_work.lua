-- straight_work: acknowledges deliveries on the straight path, or renews some.
-- keys   records order
-- args   none of its own
-- reply  the time, if there is no pop
-- cost   one HGET for each item that is renewed, and for each that is acknowledged if one of them
--        is not listed
--
-- An item that is listed behind the head is in work and has no group, so it can be acknowledged
-- without being read. A renewed item is listed from then on, if there is room, and otherwise stands
-- in the order. Removing an item that is not in the order does no harm.

  if what == DONE or what == RENEW then
    local asked, from, gone, ok, _, ttl, margin, deliveries = 1, at, nil, nil, nil, nil, nil, nil
    if what == DONE then
      gone, at = { [sub(line, at + 1, at + LISTED_BYTES)] = '' }, at + 1 + LISTED_BYTES
      while byte(line, at) == DONE do
        gone[sub(line, at + 1, at + LISTED_BYTES)] = ''
        asked, at = asked + 1, at + 1 + LISTED_BYTES
      end
    else
      ok, _, ttl, margin, deliveries, at = pcall(read, RENEW_TERMS, line, at)
      if not ok or not (ttl >= MIN_TTL and ttl <= MAX_TTL and margin >= 0) then break end
      if #deliveries == 0 or #deliveries > MOST_RENEWED * LISTED_BYTES then break end
      gone, asked = {}, #deliveries / LISTED_BYTES
      for place = 1, #deliveries, LISTED_BYTES do
        gone[sub(deliveries, place, place + LISTED_BYTES - 1)] = ''
      end
    end
    what = byte(line, at)
    local left, place = listed, asked == 1 and string.find(listed, next(gone), 1, true)
    if place and place % LISTED_BYTES == 1 then
      left = sub(listed, 1, place - 1) .. sub(listed, place + LISTED_BYTES)
    elseif place or asked > 1 then
      left = string.gsub(listed, ENTRY, gone)
    end
    local are_listed, has_room = #listed - #left == asked * LISTED_BYTES,
      #left + asked * LISTED_BYTES <= MOST_LISTED * LISTED_BYTES
    local ends, ends_wall = clock + (ttl or 0), now + (ttl or 0)
    if not are_listed then remove = {} end
    if not ttl then del = { nil, nil } elseif not has_room then add = add or {} end
    for entry in pairs(gone) do
      local id = sub(entry, 1, 8)
      if ttl or not are_listed then
        local item = try('hget', records, 'i' .. id)
        is_plain = item and #item >= ITEM_BYTES + WORKED_BYTES and byte(item) == 119
          and byte(item, 31) + byte(item, 32) == 0
        -- The item is not in work, or has a group.
        if not is_plain then break end
        local fence, since, _, its_end, its_wall = read(WORKED, item, ITEM_BYTES + 1)
        is_plain = pack(NUMBER, fence) == sub(entry, 9)
        if not is_plain then break end
        local n = remove and #remove
        if remove then
          remove[n + 1], remove[n + 2] = 'e' .. pack(NUMBER, its_end) .. id,
            'w' .. pack(NUMBER, its_wall) .. id
        end
        if ttl then
          n = #set
          set[n + 1], set[n + 2] = 'i' .. id, sub(item, 1, ITEM_BYTES) .. pack(WORKED, fence, since,
            ttl, ends, ends_wall, sub(field, 2)) .. sub(item, ITEM_BYTES + WORKED_BYTES + 1)
        end
        if ttl and not has_room then
          n = #add
          add[n + 1], add[n + 2], add[n + 3], add[n + 4] = '0', 'e' .. pack(NUMBER, ends) .. id,
            '0', 'w' .. pack(NUMBER, ends_wall) .. id
        end
      end
      asked = asked - 1
      if not ttl then del[#del + 1], del[#del + 2] = 'i' .. id, 'p' .. id end
    end
    -- The request names one delivery twice.
    if not is_plain or asked > 0 then break end
    listed = left
    if ttl then
      if has_room then listed = left .. deliveries end
      if ends < first_end then first_end = ends end
      if ends_wall < first_wall then first_wall = ends_wall end
      if margin < bound then bound = margin end
      kept = pack(KEPT_RENEWED, RENEW, ttl)
    else
      in_work, kept = in_work - #del / 2, sub(line, from, at - 1)
    end
  end
