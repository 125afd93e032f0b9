-- line_end: writes the line, wakes the waiters that were granted permits, and answers.
-- keys   records order
-- args   as lean has them
-- reply  what line says
-- cost   one HSET; PEXPIRE if the keys would expire too early; PUBLISH

    if line then break end
    -- With restart-guard: over.

    local is_idle, left, need, most, value, look, milliseconds =
      holders + waiting == 0, deadline - now, nil, nil, nil, -1, nil
    if is_idle then
      -- The ledger's clock may run freely, and the memories alone need the keys for a shorter time.
      bound, need = UNBOUNDED, till_then - clock
      for at = LINE_SIZE + 70, LINE_SIZE + 70 + (count - 1) * SESSION_SIZE, SESSION_SIZE do
        local till = read('<d', text, at)
        if till - clock > need then need = till - clock end
      end
      -- The keys last until the clock has passed the fence, unless that is more than a day ahead.
      local ahead = fence - now
      if need <= ahead and ahead <= HALF_DAY + HALF_DAY then need = ahead + 1 end
      most = need + (given >= 0 and HALF_DAY or SECOND)
    else
      -- A lease may have all of its ttl left, however long ago it was renewed, because the ledger's
      -- clock is slow while the store's clock makes steps. A line does not know the ttl of each
      -- lease.
      need = MAX_TTL + HALF_DAY
      most = need + HALF_DAY
    end
    if left < need or (is_idle and left > most and uses < MOST_SHORT) then
      deadline, milliseconds = now + most, string.format('%d', most / 1000)
    end
    if is_idle and count == 1 and tail < 256 then
      value = pack(PACK_IDLE, IDLE_VERSION, sub(text, LINE_SIZE + 1, LINE_SIZE + 56), uses,
        read('<I4', text, LINE_SIZE + 66), clock, now, fence, deadline, till_then, recent) .. p6
    elseif from <= LINE_TURN_END then
      value = pack(PACK_LINE_TIMES, LINE_VERSION, clock, now, fence, bound, due, deadline)
        .. p1 .. p2 .. p3
    else
      if from > LINE_SIZE then
        value = pack(PACK_LINE, LINE_VERSION, clock, now, fence, bound, due, deadline, arrival,
          recent, line_at, waiting, uses, places, kind, count, holders, ranges, tail, limit, held,
          top)
      else
        value = pack(PACK_LINE_TURN, LINE_VERSION, clock, now, fence, bound, due, deadline, arrival,
          recent, line_at, waiting, uses, places)
      end
      value = value .. p1 .. p2 .. p3 .. p4 .. p5 .. p6 .. p7 .. p8
    end
    if #value > LONGEST_LINE then break end
    local first = waiting > 0 and byte(value, line_at)
    local inbox_at = first and LINE_SIZE + 1 + SESSION_SIZE * (first - 1)
    if first and (first == mine or sub(value, inbox_at, inbox_at + 31) == sub(who, 1, 32)) then
      -- The first waiter has to look in when the first lease ends. If the holder is gone, no other
      -- client comes by to notice.
      look = bound
      if due - now < bound then
        for at = LINE_SIZE + 57, LINE_SIZE + 57 + (count - 1) * SESSION_SIZE, SESSION_SIZE do
          local members, _, _, _, ends = read('<BdI4dd', value, at)
          if members > 0 and ends - clock < look then look = ends - clock end
        end
        for at = #value - tail - places * PLACE_SIZE + 1, #value - tail, PLACE_SIZE do
          local ends = read('<d', value, at + 10)
          if ends - clock < look then look = ends - clock end
        end
      end
      if look < 1 then look = 1 end
    end
    -- HSET answers 0, because the field is there. Anything else is a refusal.
    if try('hset', key, 'h', value) ~= 0 then break end
    if is_apart then try('hdel', key, 'a') end
    if milliseconds then
      try('pexpire', key, milliseconds)
      if ALWAYS_LISTED then try('pexpire', KEYS[2], milliseconds) end
    end
    if message then try(PUBLISH, channel, message) end
    for k = 1, messages and #messages or 0, 2 do try(PUBLISH, messages[k], messages[k + 1]) end
    if not said and look < 0 then return now end
    return pack('<ddc0', -now, look, said or '')
  until true
