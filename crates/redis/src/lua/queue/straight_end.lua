-- straight_end: ends the straight path: writes and answers.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- error  SEINPAALTORN
-- cost   one HSET; one ZADD, HDEL and ZREM if there is something for them; PERSIST or PEXPIRE of
--        both keys when the queue gets its first item or loses its last
--
-- A batch that only makes the queue grow begins with a write that grows, and any other with a
-- removal (see state). The server may refuse the first write, and then the general path reports
-- that. After the first write the call cannot be undone.

  -- A request follows that the straight path does not know.
  if what then break end
  local lasts, milliseconds
  if ready + delayed + in_work + dead > 0 or limit >= 0 or group_limit >= 0 then
    if deadline > 0 then lasts, deadline = true, 0 end
  else
    local need, left, ahead = memory - now, deadline - now, last - now
    -- As in the general path, the keys last until the clock has passed the last number.
    if ahead > need and ahead <= HALF_DAY + HALF_DAY then need = ahead + 1 end
    if deadline <= 0 or left < need or left > need + PLACE_TTL then
      local most = need + (given_now < 0 and PLACE_TTL / 2 or HALF_DAY)
      deadline, milliseconds = now + most, string.format('%d', math.floor(most / 1000))
    end
  end
  if in_work == 0 then bound, first_end, first_wall = UNBOUNDED, UNBOUNDED, UNBOUNDED end
  local n = #set
  set[n + 1], set[n + 2] = field, pack(SESSION_AND_KEPT, number, not_after, stands, kept)
  set[n + 3], set[n + 4] = 'h', pack(HEAD_AND_LIST, VERSION, 0, FIELDS_OF_HEAD, listed)
  local first, second, third
  if pushed > 0 then
    first = try('hset', records, unpack(set))
  elseif remove then
    first = try('zrem', order, unpack(remove))
  else
    first, del = try('hdel', records, unpack(del or { '-' })), nil
  end
  if type(first) == 'table' then break end
  if del then try('hdel', records, unpack(del)) end
  if pushed == 0 then second = try('hset', records, unpack(set)) end
  if add then third = try('zadd', order, unpack(add)) end
  if lasts then
    try('persist', records)
    try('persist', order)
  elseif milliseconds then
    try('pexpire', records, milliseconds)
    try('pexpire', order, milliseconds)
  end
  local failed = type(second) == 'table' and second or type(third) == 'table' and third
  if failed then
    return redis.error_reply('SEINPAALTORN ' .. string.gsub(failed.err, '[\r\n]', ' '))
  end
  return answer
until true
