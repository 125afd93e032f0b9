-- fast_end: the last quarter of a fast path: writes, wakes and answers.
-- keys   records order
-- args   now inbox
-- reply  done
-- cost   one HSET, one ZADD, HDEL and ZREM if there is something to remove, PEXPIRE if the end is too near
--
-- What only grows begins with a write that grows, anything else with a removal: see state.

  -- What is to be forgotten the full script forgets: there is little of it, one memory a series.
  if past > 0 and (first_past <= clock or past > MOST_MEMORIES) then break end
  if past == 0 then first_past, memory = UNBOUNDED, 0 end
  first_past = min(first_past, newest)

  local milliseconds
  if pinned < 0 then
    local ahead = fence - now
    local owed = ahead >= 0 and ahead <= HALF_DAY + HALF_DAY and ahead + 1 or 0
    local need = max(is_idle and memory - clock or longest + HALF_DAY, owed)
    local most = need + ((is_idle and given_now == '') and SECOND or HALF_DAY)
    local left = deadline - now
    if deadline <= 0 or left < need or left > most then
      deadline, milliseconds = now + most, format('%d', floor(most / 1000))
    end
  end
  set[#set + 1] = 'h'
  set[#set + 1] = pack(HEAD, VERSION, kind, '0', stated, pinned, clock, wall, bound, fence, held, holders, waiting, past,
    arrival, top, first_end, first_wall, first_past, longest, memory, deadline)

  -- The first write may be refused, and then the full script says so. After it there is no way back.
  local first = is_growth and try('hset', records, unpack(set)) or try('zrem', order, unpack(remove))
  if type(first) == 'table' then break end
  local more = is_growth and #remove > 0 and try('zrem', order, unpack(remove))
  local failed = type(more) == 'table' and more
  more = #del > 0 and try('hdel', records, unpack(del))
  failed = type(more) == 'table' and more or failed
  more = not is_growth and try('hset', records, unpack(set))
  failed = type(more) == 'table' and more or failed
  more = #add > 0 and try('zadd', order, unpack(add))
  failed = type(more) == 'table' and more or failed
  more = is_idle and has_free_slots and try('zremrangebylex', order, '[f', '(g')
  failed = type(more) == 'table' and more or failed
  if milliseconds then
    try('pexpire', records, milliseconds)
    try('pexpire', order, milliseconds)
  end
  -- A wakeup is a hint: where it may not be published, whoever waits looks again in time.
  if channel then try(PUBLISH, channel, message) end
  if failed then return redis.error_reply('SEINPAALTORN ' .. string.gsub(failed.err, '[\r\n]', ' ')) end

  local look_in = '-'
  if asker ~= '' and waiting > 0 then
    local waiter = try('zrangebylex', order, '[q', '(r', 'limit', '0', '1')[1]
    local entry = waiter and try('hget', records, 't:' .. sub(waiter, 10))
    if type(entry) == 'string' and sub(entry, 35, 66) == asker then
      local next_end = try('zrangebylex', order, '[e', '(f', 'limit', '0', '1')[1]
      if not next_end or #next_end ~= 41 then return redis.error_reply('SEINPAALTORN a lease that is listed') end
      local _, ends = read(MEMBER, next_end)
      look_in = format('%d', max(min(ends - clock, bound), 1))
    end
  end
  return { format('done %d 0 ', now) .. look_in, reply }
until true
