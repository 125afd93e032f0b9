-- lean_work: this piece of the straight path acknowledges a delivery, pops one item, or does both.
-- keys   records order
-- args   none of its own
-- reply  of an acknowledgement the time; of a pop, with or without one, a string (POPPED) and the payload
-- cost   of an acknowledgement HDEL and HSET; of a pop ZRANGEBYLEX, one HGET each for the item and its payload, ZREM and HSET
--
-- An item that is listed behind the head is in work and has no group. So an item that is acknowledged is not read.

    local id_done, member, id, kept, answer, payload = nil, nil, nil, nil, now, nil
    if done then
      local at = string.find(listed, done, 1, true)
      if not at or at % LISTED_BYTES ~= 1 then break end
      id_done, in_work = sub(done, 1, 8), in_work - 1
      listed = sub(listed, 1, at - 1) .. sub(listed, at + LISTED_BYTES)
    end
    if ttl then
      if not (ttl >= MIN_TTL and ttl <= MAX_TTL and margin >= 0) then break end
      if (limit >= 0 and in_work >= limit) or #listed >= MOST_LISTED * LISTED_BYTES then break end
      member = try('zrangebylex', order, '[o', '(p', 'limit', '0', '1')[1]
      if not member then break end
      id = sub(member, 10)
      local item = try('hget', records, 'i' .. id)
      payload = try('hget', records, 'p' .. id)
      if not item or not payload or #item < ITEM_BYTES then break end
      local _, its_priority, its_most, bytes, attempt, pushed, rank, group, key, its_size, past = read(ITEM, item)
      if group > 0 then break end
      last, attempt = last < now and now or last + 1, attempt + 1
      in_work, ready, open = in_work + 1, ready - 1, open - 1
      local ends, ends_wall, fence = clock + ttl, now + ttl, pack(NUMBER, last)
      if ends < first_end then first_end = ends end
      if ends_wall < first_wall then first_wall = ends_wall end
      if margin < bound then bound = margin end
      listed = listed .. id .. fence
      local its_about = its_size > 0 and sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + its_size) or ''
      answer = pack(LEAN_POPPED, id, last, pushed, attempt, its_most, its_priority, now, ready + delayed + in_work, its_about)
      item = pack(ITEM_AT_WORK, 'w', its_priority, its_most, bytes, attempt, pushed, rank, 0, key, its_size, past, size, last, now, ttl, ends,
        ends_wall, sub(field, 2), sub(item, ITEM_BYTES + 1), about)
      kept = id_done and pack('<dddBc8Bc8c8', number, not_after, stands, KEPT_DONE, id_done, KEPT_POPPED, id, fence)
        or pack('<dddBc8c8', number, not_after, stands, KEPT_POPPED, id, fence)
      local is_out = try('zrem', order, member)
      if is_out ~= 1 and type(is_out) == 'table' then break end
      -- From here on there is no way back.
      if id_done then try('hdel', records, 'i' .. id_done, 'p' .. id_done) end
      is_out = try('hset', records, 'i' .. id, item, field, kept, 'h', pack(HEAD_AND_LIST, VERSION, 0, FIELDS_OF_HEAD, listed))
      if is_out ~= 0 and type(is_out) == 'table' then
        return redis.error_reply('SEINPAALTORN ' .. string.gsub(is_out.err, '[\r\n]', ' '))
      end
      return { answer, payload }
    end
    if ready + delayed + in_work + dead == 0 and limit < 0 and group_limit < 0 then break end
    if in_work == 0 then bound, first_end, first_wall = UNBOUNDED, UNBOUNDED, UNBOUNDED end
    local is_out = try('hdel', records, 'i' .. id_done, 'p' .. id_done)
    if is_out ~= 2 and type(is_out) == 'table' then break end
    is_out = try('hset', records, field, pack('<dddBc8', number, not_after, stands, KEPT_DONE, id_done), 'h',
      pack(HEAD_AND_LIST, VERSION, 0, FIELDS_OF_HEAD, listed))
    if is_out ~= 0 and type(is_out) == 'table' then
      return redis.error_reply('SEINPAALTORN ' .. string.gsub(is_out.err, '[\r\n]', ' '))
    end
    return now
  until true
