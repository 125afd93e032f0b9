-- fast_renew: everything under a lease is renewed, and both sides agree on what that is.
-- keys   records order
-- args   those of renew
-- reply  renewed
-- cost   HMGET, ZREM, HSET, ZADD

local function extend(h, lease, ttl, margin)
  lease.inbox, lease.ttl = asker ~= '' and asker or nil, ttl
  lease.ends, lease.ends_wall = h.clock + ttl, now + ttl
  h.bound = min(h.bound, margin)
  put_leases(h)
  forget(h, UNBOUNDED, WORK)
  write(h, false, false)
  return done(h, format('renewed %d', ttl))
end

local function renew()
  if not is_plain_call() then return nil end
  local id, ttl, margin, members, digest = match(ARGV[4], '^renew (%x+) (%d+) (%d+) all (%d+) (%d+)$')
  if not id or #id ~= 32 or lower(id) ~= id then return nil end
  ttl, margin = ttl + 0, margin + 0
  if ttl < MIN_TTL or ttl > MAX_TTL or margin > UNBOUNDED then return nil end
  local found = call('hmget', records, 'h', 'l:' .. id)
  local h = found[1] and plain_head(found[1])
  local lease = h and keep_lease(id, found[2])
  if not lease or lease.parked ~= 0 or lease.members ~= members + 0 or lease.digest ~= digest + 0 then return nil end
  return extend(h, lease, ttl, margin)
end

do
  local answer = attempt(renew)
  if answer then return answer end
end
