-- fast_renew: everything under a lease is renewed, if both sides agree on what that is.
-- keys   records order
-- args   those of renew
-- reply  renewed
-- cost   nothing more

  local _, _, ends, ends_wall, there, sum, parked = read(LEASE, found[2])
  if there ~= members + 0 or sum ~= digest + 0 or parked ~= 0 then break end
  remove[1], remove[2] = pack(MEMBER, 'e', ends, id), pack(MEMBER, 'w', ends_wall, id)
  ends, ends_wall = clock + ttl, now + ttl
  add[1], add[2], add[3], add[4] = '0', pack(MEMBER, 'e', ends, id), '0', pack(MEMBER, 'w', ends_wall, id)
  set[1], set[2] = 'l:' .. id, pack(LEASE, inbox, ttl, ends, ends_wall, there, sum, parked)
  first_end, first_wall, longest = min(first_end, ends), min(first_wall, ends_wall), max(longest, ttl)
  bound = min(bound, margin)
  local reply, has_free_slots = format('renewed %d', ttl), false
