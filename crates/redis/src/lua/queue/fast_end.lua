-- fast_end: the fast path ends here. This piece writes and answers.
-- keys   records order
-- args   none of its own
-- reply  the time alone, which means that all was done and there is nothing else to say
-- cost   one HSET, one ZADD, HDEL and ZREM if there is something to remove; PERSIST or PEXPIRE of both keys when
--        the queue gets its first item or loses its last
--
-- A batch that only makes the queue grow begins with a write that grows, and any other with a removal: see state.

  local is_kept = ready + delayed + in_work + dead > 0 or limit >= 0 or group_limit >= 0
  if not is_kept and sessions + keys == 0 then break end
  local expiry, milliseconds
  if is_kept then
    if deadline > 0 then expiry, deadline = 'persist', 0 end
  else
    local need, left = max(memory - now, 0), deadline - now
    if deadline <= 0 or left < need or left > need + PLACE_TTL then
      local most = need + ((given_now == '') and PLACE_TTL / 2 or HALF_DAY)
      expiry, deadline, milliseconds = 'pexpire', now + most, format('%d', floor(most / 1000))
    end
  end
  if in_work == 0 then bound, first_end, first_wall = UNBOUNDED, UNBOUNDED, UNBOUNDED end
  if delayed == 0 then first_due = UNBOUNDED end
  if keys == 0 then first_key = UNBOUNDED end
  if number > 0 then
    set[#set + 1] = 's' .. asker
    set[#set + 1] = pack(SESSION_AND_KEPT, number, not_after, stands, concat(kept))
  end
  if not text then
    add[#add + 1] = '0'
    add[#add + 1] = 'z'
  end
  set[#set + 1] = 'h'
  set[#set + 1] = pack(HEAD_AND_LIST, VERSION, 0, FIELDS_OF_HEAD, listed)

  -- The first write may be refused, and then the rest of the script says so. After it there is no way back.
  local first
  if is_push then
    first = try('hset', records, unpack(set))
  elseif #remove > 0 then
    first = try('zrem', order, unpack(remove))
  else
    first, del = try('hdel', records, unpack(del[1] and del or { '-' })), nil
  end
  if type(first) == 'table' then break end
  local more = del and #del > 0 and try('hdel', records, unpack(del))
  local failed = type(more) == 'table' and more
  more = not is_push and try('hset', records, unpack(set))
  failed = type(more) == 'table' and more or failed
  more = #add > 0 and try('zadd', order, unpack(add))
  failed = type(more) == 'table' and more or failed
  if expiry then
    for _, key in ipairs(KEYS) do
      if milliseconds then try(expiry, key, milliseconds) else try(expiry, key) end
    end
  end
  if failed then return redis.error_reply('SEINPAALTORN ' .. string.gsub(failed.err, '[\r\n]', ' ')) end
  answer[1] = now
  return answer
until true
