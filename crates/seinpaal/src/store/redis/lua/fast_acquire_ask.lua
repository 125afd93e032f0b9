-- fast_acquire_ask: the first quarter of acquire's fast path: what is asked, and whether the ticket is new.
-- keys   records order
-- args   those of acquire
-- reply  nothing
-- cost   one HMGET

repeat
  if #ARGV ~= 4 then break end
  local ticket, asked_kind, permits, rule, stated, enqueue, priority, lease, ttl, margin, place, place_ttl, not_after, about =
    match(ARGV[4], '^acquire (%x+) ([smr]) (%d+) ([-RAS])(%d*) (%w+) (%-?%d+) (%x+) (%d+) (%d+) (%x+) (%d+) (%S+) (.*)$')
  if not ticket or (rule == '-') ~= (stated == '') then break end
  local ids = ticket .. lease .. place
  if #ticket ~= 32 or #lease ~= 32 or #place ~= 32 or lower(ids) ~= ids then break end
  permits, ttl, margin, place_ttl, priority = permits + 0, ttl + 0, margin + 0, place_ttl + 0, priority + 0
  stated = rule ~= '-' and stated + 0
  if permits < 1 or permits > MOST_PERMITS or (stated and stated > MOST_PERMITS) or #about > MOST_ABOUT then break end
  if ttl < MIN_TTL or ttl > MAX_TTL or place_ttl < MIN_TTL or place_ttl > MAX_TTL then break end
  if margin > UNBOUNDED or priority < -100 or priority > 100 then break end
  local latest = not_after == '-' and UNBOUNDED or match(not_after, '^%d+$')
  if not now or not latest or now > latest + 0 then break end
  local found = try('hmget', records, 'h', 't:' .. ticket, 'p:' .. ticket, 'l:' .. lease)
  if found.err or found[2] or found[3] then break end
