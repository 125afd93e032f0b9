-- plain_fold: makes one value of the few rows that are left, and answers.
-- keys   records order
-- args   none
-- reply  done
-- cost   if so one HGETALL, HSET and HDEL; one ZRANGEBYLEX and ZREM if somebody waits
--
-- The rows are written already, so that nothing is lost where this breaks out.

  if refused then return redis.error_reply('SEINPAALTORN ' .. string.gsub(refused.err, '[\r\n]', ' ')) end
  repeat
    if not is_packed or folds or rows > MOST_FOLDED or flags > 0 or pinned >= 0 or deadline <= 0 then break end
    if holders + waiting > 0 and stated < 0 then break end
    local all, in_line = try('hgetall', records), waiting > 0 and try('zrangebylex', order, '[q', '(r') or {}
    if all.err or in_line.err or #in_line ~= waiting or waiting > MOST_IN_LINE then break end
    local texts, gone, waiters = {}, {}, {}
    for k = 1, #all, 2 do
      local name = all[k]
      if match(name, '^r') then
        texts[#texts + 1] = pack('<c32I2', sub(name, 2), min(#all[k + 1], 65535)) .. all[k + 1]
      elseif match(name, '^t') then
        waiters[name] = all[k + 1]
      end
      if match(name, '^[rt]') then gone[#gone + 1] = name end
    end
    local count = #texts
    if #gone ~= rows or count > MOST_RECORDS then break end
    for k = 1, waiting do
      local name = 't' .. sub(in_line[k], 10)
      local kept = waiters[name]
      if not kept or #kept < 146 or sub(kept, 1, 1) ~= 'W' then break end
      texts[#texts + 1] = pack('<c32I2', sub(name, 2), min(#kept, 65535)) .. kept
    end
    if #texts ~= rows then break end
    local value = pack(LINE, LINE_VERSION, count, waiting, #free / 8, string.byte(kind), 0, clock, now, bound, fence, now + due - passed,
      deadline, longest, arrival, max(stated, 0), held, holders, top) .. free .. table.concat(texts)
    if #value > LONGEST_LINE or type(try('hset', records, 'h', value)) == 'table' then break end
    try('hdel', records, unpack(gone))
    if waiting > 0 then try('zrem', order, unpack(in_line)) end
  until true
  return { format('done %d 0 ', now) .. look_in, unpack(replies) }
until true
