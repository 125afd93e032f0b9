-- fast_renew_ask: the first quarter of renew's fast path: which lease, and that it is here.
-- keys   records order
-- args   those of renew
-- reply  nothing
-- cost   one HMGET

repeat
  local id, ttl, margin, members, digest = match(ARGV[4] or '', '^renew (%x+) (%d+) (%d+) all (%d+) (%d+)$')
  if not id or #ARGV ~= 4 or #id ~= 32 or lower(id) ~= id then break end
  ttl, margin = ttl + 0, margin + 0
  if ttl < MIN_TTL or ttl > MAX_TTL or margin > UNBOUNDED then break end
  local found = try('hmget', records, 'h', 'l:' .. id)
  if found.err or not found[1] or not found[2] or #found[2] ~= 80 then break end
