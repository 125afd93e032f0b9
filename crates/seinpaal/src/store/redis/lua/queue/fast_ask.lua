-- fast_ask: the first quarter of the fast path: what is asked, if it is what goes on all the time.
-- keys   records order
-- args   now session number not_after seen request...
-- reply  nothing
-- cost   one HMGET for the head, the session and all deliveries that are named
--
-- Pushes and nothing else; or deliveries that are renewed or acknowledged, and then at most one pop. When such
-- a batch comes to a queue in a plain state, the fast path does what the rest of the script would do, without
-- making a single function, which is most of what that costs. It is one block in four pieces. Whatever is not
-- plain breaks out of the block before anything is written, and the rest begins anew.
repeat
  if #ARGV < FIRST_REQUEST or #asker ~= 32 or match(asker, '[^0-9a-f]') or not now then break end
  local number, not_after, seen = match(ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5], '^(%d+) (%d+) (%d+)$')
  if not number then break end
  number, not_after, seen = number + 0, not_after + 0, seen + 0
  local fields, asks, at, is_plain, pushes, pop = { 'h', 's' .. asker }, {}, FIRST_REQUEST, true, 0, nil
  while is_plain and at <= #ARGV do
    local line = ARGV[at]
    local kind = sub(line, 1, 3)
    if kind == 'pus' and #asks == pushes then
      local priority, most, about = match(line, '^push (%-?%d+) %- (%d+) 0 0 0 (.*)$')
      local payload = ARGV[at + 1]
      is_plain = priority and payload and #payload <= MOST_BYTES and #about <= MOST_TEXT
      pushes, at = pushes + 1, at + 1
      asks[pushes] = { priority, most, about, payload }
    elseif kind == 'ack' and pushes == 0 and not pop then
      local id, fence = match(line, '^acknowledge (%d+) (%d+)$')
      is_plain = id and #id <= 16 and #fence <= 16
      fields[#fields + 1] = is_plain and 'i' .. pack(NUMBER, id)
      asks[#asks + 1] = { fields[#fields], fence, id }
    elseif kind == 'ren' and pushes == 0 and not pop then
      local ttl, margin, list = match(line, '^renew (%d+) (%d+) ([%d:,]*)$')
      is_plain = ttl and ttl + 0 >= MIN_TTL and ttl + 0 <= MAX_TTL
      local deliveries = {}
      for id, fence in string.gmatch(list or '', '(%d+):(%d+)') do
        is_plain = is_plain and #id <= 16 and #fence <= 16 and #fields < 1000
        fields[#fields + 1] = is_plain and 'i' .. pack(NUMBER, id)
        deliveries[#deliveries + 1] = { fields[#fields], fence, id }
      end
      asks[#asks + 1] = { deliveries, ttl = ttl, margin = margin }
    elseif kind == 'pop' and pushes == 0 and not pop then
      local items, ttl, margin, wait, about = match(line, '^pop (%d+) (%d+) (%d+) ([01]) [01] (.*)$')
      is_plain = items and items + 0 >= 1 and items + 0 <= MOST_ITEMS and ttl + 0 >= MIN_TTL and ttl + 0 <= MAX_TTL
        and #about <= MOST_TEXT
      pop = { items = items, ttl = ttl, margin = margin, wait = wait, about = about }
      asks[#asks + 1] = pop
    else
      is_plain = false
    end
    at = at + 1
  end
  if not is_plain or #asks > 64 then break end
  local found = try('hmget', records, unpack(fields))
  if found.err then break end
