-- plain_fold: makes a line of the rows if few are left, and answers.
-- keys   records order
-- args   none
-- reply  done
-- cost   if the rows may be few one HGETALL, and if tickets wait one ZRANGEBYLEX; if they are few
--        one HSET, one HDEL, and one ZREM if tickets wait
--
-- The rows are written already, so breaking out of this piece loses nothing.

  repeat
    if not is_packed or folds or rows > MOST_FOLDED or flags > 0 or deadline <= 0
        or (holders + waiting > 0 and stated < 0) then
      break
    end
    -- In a line, a row is a memory with its lease, a waiter, or a place, and each place has a
    -- waiter.
    if rows < past + waiting or rows > past + 2 * waiting then break end
    local all, in_line = try('hgetall', records),
      waiting > 0 and try('zrangebylex', order, '[q', '(r') or {}
    if all.err or in_line.err or #in_line ~= waiting then break end
    local texts, gone, by_series, places, sessions, tickets = {}, {}, {}, {}, {}, {}
    local is_small = true
    for k = 1, #all, 2 do
      local name, row = all[k], all[k + 1]
      if match(name, '^[rt]') then gone[#gone + 1], texts[name] = name, row end
      if sub(name, 1, 1) == 'r' and #row < RECORD_SIZE then is_small = false end
      if sub(name, 1, 1) == 'r' and is_small then
        local its, its_last, its_till, _, _, its_ends, its_wall, its_members, its_digest, _, owner,
          _, causes_size = read(RECORD, row)
        local series = sub(name, 2, 25)
        is_small = sub(name, 26) == '00000000'
        if its == 2 then
          places[name] = { its_members, its_digest, its_ends, its_wall, owner }
        else
          sessions[#sessions + 1] = {
            owner, series, its_last, its_till, its_ends, its_wall, its_members, its_digest,
            waits = 0, causes = sub(row, RECORD_SIZE + 1, RECORD_SIZE + causes_size) }
          by_series[series] = #sessions
          local from = RECORD_SIZE + causes_size + 1
          while from + TICKET_SIZE <= #row + 1 do
            local its_number, its_permits, term, since, its_fence, its_slot, size =
              read(TICKET, row, from)
            from = from + TICKET_SIZE + size
            tickets[#tickets + 1] = pack(LINE_TICKET, #sessions, size, its_number, its_permits,
              its_slot, term, since, its_fence) .. sub(row, from - size, from - 1)
          end
          is_small = from == #row + 1 and is_small
        end
      end
    end
    local waiters = {}
    for k = 1, is_small and waiting or 0 do
      local ticket = sub(in_line[k], 10)
      local entry, series = texts['t' .. ticket], sub(ticket, 1, 24)
      if not entry or #entry < WAITER_SIZE then
        is_small = false
        break
      end
      local _, _, place, owner, its_permits, term, since, rank, its_priority, its_margin,
        next_lease, about_at = read(WAITER, entry)
      local its, size = sessions[by_series[series]], #entry - about_at + 1
      if not its then
        its = { owner, series, 0, 0, 0, 0, 0, 0, waits = 0, causes = '' }
        sessions[#sessions + 1], by_series[series] = its, #sessions + 1
        is_small = is_small and not places['r' .. series .. '00000000']
      elseif its[7] == 0 and its.waits == 0 then
        its[1] = owner
      end
      -- At a line nobody waits whom a call could serve.
      is_small = is_small and owner == its[1] and owner ~= NOBODY
        and (k > 1 or its_permits > limit - held)
        and next_lease == series .. '00000000' and size < 256
      its.place, its.waits = place, its.waits + 1
      waiters[k] = pack(LINE_WAITER, by_series[series], min(size, 255),
        tonumber(sub(ticket, 25), 16), its_permits, term, digest_of(ticket), rank, since,
        its_margin, its_priority) .. sub(entry, about_at)
    end
    local parts, causes, line_places = {}, {}, {}
    for k, its in ipairs(sessions) do
      local owner, its_series, its_last, its_till, its_ends, its_wall, its_members,
        its_digest = unpack(its)
      if its.place then
        local place = places['r' .. its.place] or {}
        is_small = is_small and place[1] == its.waits and place[5] == owner
        places['r' .. its.place] = nil
        if not is_small then break end
        line_places[#line_places + 1] = pack(LINE_PLACE, k, place[1], place[2], place[3], place[4],
          sub(its.place, 1, 24))
      end
      causes[k] = its.causes
      parts[k] = pack(LINE_SESSION, owner, its_series, its_members, its_digest, its_last, its_till,
        its_ends, its_wall, min(#its.causes, 65535))
    end
    if not is_small or #tickets ~= holders then break end
    local held_texts, causes_text = table.concat(tickets), table.concat(causes)
    local value = pack(PACK_LINE, LINE_VERSION, clock, now, fence, bound, now + due - passed,
      deadline, arrival, recent,
      min(LINE_SIZE + #sessions * SESSION_SIZE + #free + #held_texts + 1, 65535), waiting, 0,
      #line_places, string.byte(kind), #sessions, holders, #free / 8, min(#causes_text, 65535),
      max(stated, 0), held, top)
      .. table.concat(parts) .. free .. held_texts .. table.concat(waiters)
      .. table.concat(line_places) .. causes_text
    if #value > LONGEST_LINE or type(try('hset', records, 'h', value)) == 'table' then break end
    try('hdel', records, unpack(gone))
    if waiting > 0 then try('zrem', order, unpack(in_line)) end
  until true
  return { format('done %d %s ', now, backlog) .. look_in, unpack(replies) }
until true
