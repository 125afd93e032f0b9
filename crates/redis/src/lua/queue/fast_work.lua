-- fast_work: this piece of the fast path acknowledges and renews deliveries.
-- keys   records order
-- args   none of its own
-- reply  renewed lost; of each acknowledgement a 1
-- cost   one HMGET for the items that are renewed, and for those that are acknowledged and not listed behind the head
--
-- An item that has a group is not plain, unless it is only renewed. An item that is listed behind the head has no group,
-- and need not be read to be acknowledged.

    local places, fields, touched, at = {}, {}, {}, 0
    del, remove = { nil, nil }, {}
    for from = 1, #listed, LISTED_BYTES do places[sub(listed, from, from + LISTED_BYTES - 1)] = true end
    for _, ask in ipairs(asks) do
      if type(ask) == 'table' then
        for _, delivery in ipairs(ask) do fields[#fields + 1] = 'i' .. delivery[1] end
      elseif not places[ask] then
        fields[#fields + 1] = 'i' .. sub(ask, 1, 8)
      end
    end
    local found = fields[1] and try('hmget', records, unpack(fields))
    if found and found.err then break end

    for i, ask in ipairs(asks) do
      local line
      if type(ask) == 'string' then
        local suffix, is_it = sub(ask, 1, 8), places[ask]
        if touched[suffix] then is_plain = false end
        if not is_plain then break end
        if is_it then
          places[ask] = nil
        else
          at = at + 1
          local item = found[at]
          if item and byte(item) == 119 then -- w: in work
            is_plain = #item >= ITEM_BYTES + WORKED_BYTES
            if not is_plain then break end
            local fence, _, _, ends, ends_wall = read(WORKED, item, ITEM_BYTES + 1)
            is_it = pack(NUMBER, fence) == sub(ask, 9)
            if is_it then
              if byte(item, 31) + byte(item, 32) > 0 then is_plain = false end -- it has a group
              remove[#remove + 1] = 'e' .. pack(NUMBER, ends) .. suffix
              remove[#remove + 1] = 'w' .. pack(NUMBER, ends_wall) .. suffix
            end
          end
        end
        if is_it then
          touched[suffix], in_work = true, in_work - 1
          del[#del + 1] = 'i' .. suffix
          del[#del + 1] = 'p' .. suffix
          answer[i + 1], kept[keeps + 1], kept[keeps + 2] = 1, '\2', suffix
          keeps = keeps + 2
        else
          line = 'lost ' .. format('%d', read(NUMBER, ask))
        end
      else
        local ttl, lost = ask.ttl, nil
        for _, delivery in ipairs(ask) do
          local suffix, is_it = delivery[1], false
          if touched[suffix] then is_plain = false end
          if not is_plain then break end
          at = at + 1
          local item = found[at]
          if item and byte(item) == 119 then
            is_plain = #item >= ITEM_BYTES + WORKED_BYTES
            if not is_plain then break end
            local fence, since, _, ends, ends_wall = read(WORKED, item, ITEM_BYTES + 1)
            is_it = fence == delivery[2]
            if is_it then
              local is_listed = places[suffix .. pack(NUMBER, fence)]
              touched[suffix] = true
              if not is_listed then
                remove[#remove + 1] = 'e' .. pack(NUMBER, ends) .. suffix
                remove[#remove + 1] = 'w' .. pack(NUMBER, ends_wall) .. suffix
              end
              ends, ends_wall = clock + ttl, now + ttl
              first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)
              set[#set + 1] = 'i' .. suffix
              set[#set + 1] = sub(item, 1, ITEM_BYTES) .. pack(WORKED, fence, since, ttl, ends, ends_wall, asker)
                .. sub(item, ITEM_BYTES + WORKED_BYTES + 1)
              if not is_listed then
                local n = #add
                add[n + 1], add[n + 2], add[n + 3], add[n + 4] = '0', 'e' .. pack(NUMBER, ends) .. suffix, '0', 'w' .. pack(NUMBER, ends_wall) .. suffix
              end
              bound = min(bound, ask.margin)
            end
          end
          if not is_it then
            lost = lost or {}
            lost[#lost + 1] = delivery[3]
          end
        end
        line = format('renewed %d ', ttl) .. (lost and concat(lost, ',') or '')
      end
      if line then
        answer[i + 1], kept[keeps + 1], kept[keeps + 2] = line, '\4' .. pack('<I4', #line), line
        keeps = keeps + 2
      end
    end
    if not is_plain then break end
    local list, lists = {}, 0
    for from = 1, #listed, LISTED_BYTES do
      local entry = sub(listed, from, from + LISTED_BYTES - 1)
      if places[entry] then
        lists = lists + 1
        list[lists] = entry
      end
    end
