-- straight_push: pushes items on the straight path.
-- keys   records order
-- args   none of its own
-- reply  the time, if that is the number of the first item; or a string: the time and that number
-- cost   nothing
--
-- The items of one call have numbers in a row, so the first number and the count give all of them.

  if what == PUSH then
    local first = last < now and now or last + 1
    add = add or { nil, nil }
    while what == PUSH do
      local ok, _, priority, most, about, next_at = pcall(read, PUSH_TERMS, line, at)
      local payload = ARGV[2 + pushed]
      is_plain = ok and payload and #payload <= MOST_BYTES and #about <= MOST_TEXT
        and pushed < MOST_ITEMS and priority >= -100 and priority <= 100 and most >= 1
        and most <= MOST_DELIVERIES
      if not is_plain then break end
      last = first + pushed
      local rank, id, n, m = last - priority * AGING, pack(NUMBER, last), 4 * pushed, #add
      set[n + 1], set[n + 2] = 'i' .. id,
        pack(ITEM_AND_ABOUT, 'o', priority, most, #payload, 0, now, rank, 0, 0, #about, 0, 0, about)
      set[n + 3], set[n + 4] = 'p' .. id, payload
      add[m + 1], add[m + 2] = '0', pack(OPEN, 'o', rank + RANK_BIAS, id)
      pushed, at = pushed + 1, next_at
      what = byte(line, at)
    end
    if not is_plain or what then break end
    ready, open = ready + pushed, open + pushed
    kept, answer = pack(KEPT_PUSHED, PUSH, first, pushed),
      first == now and now or pack('<dd', now, first)
  end
