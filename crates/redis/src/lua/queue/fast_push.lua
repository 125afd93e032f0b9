-- fast_push: this piece of the fast path pushes items.
-- keys   records order
-- args   none of its own
-- reply  a number, which is that of the item, for each push
-- cost   nothing
--
-- A push of an item that has a group, a key or a delay does not travel packed, and is not plain.

  if is_push then
    local at, n = FIRST_REQUEST, 0
    if requests > 128 then break end
    while at <= #ARGV do
      local ask, payload = ARGV[at], ARGV[at + 1]
      is_plain = byte(ask, 5) == 58 and payload and #payload <= MOST_BYTES and #ask >= 10 and #ask <= 10 + MOST_TEXT
      if not is_plain then break end
      local priority, most = read(PUSH, ask, 6)
      local about = #ask > 10 and sub(ask, 11) or ''
      last = max(last + 1, now)
      is_plain = priority >= -100 and priority <= 100 and most >= 1 and most <= MOST_DELIVERIES
      if not is_plain then break end
      local rank, id = last - priority * AGING, pack(NUMBER, last)
      set[2 * n + 1], set[2 * n + 2] = 'i' .. id, pack(ITEM_AND_ABOUT, 'o', priority, most, #payload, 0, now, rank, 0, 0, #about, 0, 0, about)
      set[2 * n + 3], set[2 * n + 4] = 'p' .. id, payload
      add[#add + 1] = '0'
      add[#add + 1] = pack(OPEN, 'o', rank + RANK_BIAS, id)
      at, n = at + 2, n + 2
      answer[n / 2 + 1], kept[n - 1], kept[n] = last, '\1', id
    end
    if not is_plain then break end
    ready, open = ready + n / 2, open + n / 2
  else
