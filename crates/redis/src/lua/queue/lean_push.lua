-- lean_push: this piece of the straight path pushes one item.
-- keys   records order
-- args   none of its own
-- reply  the time, if that is the number of the item; or a string: the time and the number
-- cost   one HSET, one ZADD
--
-- The server may refuse the first write, and then the rest of the script says so. After the first write there is no way
-- back.

    if operation == 1 then
      local payload = ARGV[2]
      if not payload or #payload > MOST_BYTES or priority < -100 or priority > 100 or most < 1 or most > MOST_DELIVERIES then break end
      last = last < now and now or last + 1
      ready, open = ready + 1, open + 1
      local rank, id = last - priority * AGING, pack(NUMBER, last)
      local item = pack(ITEM_AND_ABOUT, 'o', priority, most, #payload, 0, now, rank, 0, 0, size, 0, 0, about)
      local is_in = try('hset', records, 'i' .. id, item, 'p' .. id, payload, field, pack('<dddBc8', number, not_after, stands, KEPT_PUSHED, id),
        'h', pack(HEAD_AND_LIST, VERSION, 0, FIELDS_OF_HEAD, listed))
      if is_in ~= 2 and type(is_in) == 'table' then break end
      is_in = try('zadd', order, '0', pack(OPEN, 'o', rank + RANK_BIAS, id))
      if is_in ~= 1 and type(is_in) == 'table' then
        return redis.error_reply('SEINPAALTORN ' .. string.gsub(is_in.err, '[\r\n]', ' '))
      end
      return last == now and now or pack('<dd', now, last)
    end
