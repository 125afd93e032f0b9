-- fast_acquire_ask: the first quarter of acquire's fast path: what is asked, and whether the ticket is new.
-- keys   records order
-- args   those of acquire
-- reply  nothing
-- cost   one HMGET

repeat
  if #ARGV ~= 4 then break end
  local ticket, asked_kind, permits, rule, asked_limit, enqueue, priority, lease, ttl, margin, place, place_ttl, not_after, about =
    match(ARGV[4], '^acquire (%x+) ([smr]) (%d+) ([-RASE])(%d*) (%w+) (%-?%d+) (%x+) (%d+) (%d+) (%x+) (%d+) (%S+) (.*)$')
  if not ticket or (rule == '-') ~= (asked_limit == '') then break end
  local ids = ticket .. lease .. place
  if #ticket ~= 32 or #lease ~= 32 or #place ~= 32 or lower(ids) ~= ids then break end
  permits, ttl, margin, place_ttl, priority = permits + 0, ttl + 0, margin + 0, place_ttl + 0, priority + 0
  asked_limit = rule ~= '-' and asked_limit + 0
  if permits < 1 or permits > MOST_PERMITS or (asked_limit and asked_limit > MOST_PERMITS) or #about > MOST_ABOUT then break end
  if ttl < MIN_TTL or ttl > MAX_TTL or place_ttl < MIN_TTL or place_ttl > MAX_TTL then break end
  if margin > UNBOUNDED or priority < -100 or priority > 100 then break end
  local latest = not_after == '-' and UNBOUNDED or match(not_after, '^%d+$')
  if not now or not latest or now > latest + 0 then break end
  local series, number = sub(ticket, 1, 24) .. '00000000', tonumber(sub(ticket, 25), 16)
  local found = try('hmget', records, 'h', 't:' .. ticket, 's:' .. series, 'l:' .. lease)
  if found.err or found[2] then break end
  local last_number, till, open, ends_before = 0, 0, 0, ''
  if found[3] then
    if #found[3] < 24 then break end
    last_number, till, open = read(MEMORY, found[3])
    ends_before = sub(found[3], 25)
    if number <= last_number then break end
  end
