-- fast_ask: the fast path begins here. This piece reads the requests, if they are such as come all the time.
-- keys   records order
-- args   now sender request...
-- reply  nothing
-- cost   one HGET each for the head and the session, if they were not read before
--
-- Such a batch has pushes and nothing else; or it renews or acknowledges deliveries, and has at most one pop after that.
-- If the queue is in a plain state, the fast path does what the rest of the script would do. It makes no function,
-- because making functions is most of what the rest costs. It is one block in five pieces. A batch that is not plain
-- breaks out of the block before anything is written, and the rest of the script begins anew.
repeat
  local requests = #ARGV - FIRST_REQUEST + 1
  if requests < 1 or not now then break end
  if not (number >= 0 and number <= UNBOUNDED and not_after >= 0 and not_after <= UNBOUNDED and seen >= 0 and seen <= UNBOUNDED) then break end
  local is_push, is_plain, asks, renewed, pop = byte(ARGV[FIRST_REQUEST], 2) == 117, true, nil, 0, nil
  local pop_items, pop_ttl, pop_margin, pop_wait, pop_about
  if not is_push then
    -- An acknowledgement is what is listed of its delivery, a renewal a table.
    asks = {}
    for at = FIRST_REQUEST, #ARGV do
      local line = ARGV[at]
      local letter = byte(line)
      if pop or requests > 64 then
        is_plain = false
      elseif letter == 97 then -- acknowledge
        is_plain = is_plain and #line == 28 and byte(line, 12) == 58
        asks[#asks + 1] = sub(line, 13)
      elseif letter == 114 then -- renew
        local ttl, margin, list = match(line, '^renew (%d+) (%d+) ([%d:,]*)$')
        is_plain = is_plain and ttl and ttl + 0 >= MIN_TTL and ttl + 0 <= MAX_TTL
        local deliveries = { ttl = tonumber(ttl), margin = tonumber(margin) }
        for id, fence in string.gmatch(list or '', '(%d+):(%d+)') do
          renewed = renewed + 1
          is_plain = is_plain and #id <= 16 and #fence <= 16 and renewed < 900
          deliveries[#deliveries + 1] = { is_plain and pack(NUMBER, id), fence + 0, id .. ':' .. fence }
        end
        asks[#asks + 1] = deliveries
      else
        is_plain = is_plain and byte(line, 2) == 111 and #line >= 23 and #line <= 23 + MOST_TEXT
        if not is_plain then break end
        pop, pop_items, pop_ttl, pop_margin, pop_wait = true, read(POP, line, 5)
        pop_about = #line > 23 and sub(line, 24) or ''
        is_plain = pop_items >= 1 and pop_items <= MOST_ITEMS and pop_ttl >= MIN_TTL and pop_ttl <= MAX_TTL and pop_margin >= 0
      end
    end
    if not is_plain then break end
  end
  if read_text == nil then read_text, read_session = try('hget', records, 'h'), try('hget', records, 's' .. asker) end
  local text, session = read_text, read_session
