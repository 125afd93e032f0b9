-- fast_release: a holder gives back all it has, and who is next gets just that.
-- keys   records order
-- args   those of release
-- reply  released
-- cost   one HGET; with a hand-over three more, one ZRANGEBYLEX, one PUBSUB and one PUBLISH

  if sub(found[2], 1, 1) ~= 'H' then break end
  local is_read, _, _, lease, _, permits, ttl, _, old_fence, slots = pcall(read, HOLDER, found[2])
  local known = is_read and try('hget', records, 'l:' .. lease)
  if type(known) ~= 'string' or #known ~= 80 then break end
  local reply, has_free_slots = 'released ' .. ticket .. ' 0', top > held

  remove[1], remove[2] = 'm' .. lease .. ticket, pack(MEMBER, 'g', old_fence, ticket)
  del[1] = 't:' .. ticket
  local by, their_ttl, ends, ends_wall, members, digest, parked = read(LEASE, known)
  members, digest = members - 1, (digest - tonumber(sub(ticket, 21), 16)) % DIGESTS
  if members == 0 then
    del[2], remove[3], remove[4] = 'l:' .. lease, pack(MEMBER, 'e', ends, lease), pack(MEMBER, 'w', ends_wall, lease)
  else
    set[1], set[2] = 'l:' .. lease, pack(LEASE, by, their_ttl, ends, ends_wall, members, digest, parked)
  end

  newest, past = clock + ttl, past + 1
  memory = max(memory, newest)
  set[#set + 1] = 'p:' .. ticket
  set[#set + 1] = pack('<d', newest) .. 'released'
  add[1], add[2] = '0', pack(MEMBER, 'p', newest, ticket)

  if waiting == 0 then
    local from, last = match(slots, '^(%d+)%-?(%d*)$')
    if not from then break end
    holders, held, is_idle = holders - 1, held - permits, holders == 1
    if is_idle then
      bound, first_end, first_wall, longest, top = UNBOUNDED, UNBOUNDED, UNBOUNDED, 0, 0
    else
      add[3], add[4] = '0', pack(FREE, 'f', from + 0, (last == '' and from or last) + 0)
    end
  else
    -- Who is next takes just what is given back, and nothing else is free.
    local waiter = held == (limit >= 0 and limit or 1) and top == held
      and try('zrangebylex', order, '[q', '(r', 'limit', '0', '1')[1]
    local heir = waiter and sub(waiter, 10)
    local kept = heir and try('hget', records, 't:' .. heir)
    if type(kept) ~= 'string' or #kept < 146 or sub(kept, 1, 1) ~= 'W' then break end
    local _, _, place, to, wanted, term, _, _, _, margin, next_lease, at = read(WAITER, kept)
    if wanted ~= permits or place == lease or place == next_lease or lease == next_lease then break end
    local found_leases = try('hmget', records, 'l:' .. place, 'l:' .. next_lease)
    local there, theirs = found_leases[1], found_leases[2]
    if not there or #there ~= 80 or (theirs and #theirs ~= 80) then break end
    if to ~= NOBODY then
      channel = match(records, BEFORE_INBOX) .. INBOX .. to
      local listeners = (to == asker or not LISTENERS) and 1 or try('pubsub', LISTENERS, channel)[2]
      if not listeners or listeners == 0 then break end
    end
    work, waiting, fence = WORK - 1, waiting - 1, max(fence + 1, now)

    by, their_ttl, ends, ends_wall, members, digest, parked = read(LEASE, there)
    local place_ends, place_ends_wall = ends, ends_wall
    members, digest = members - 1, (digest - tonumber(sub(heir, 21), 16)) % DIGESTS
    if members == 0 then
      del[#del + 1] = 'l:' .. place
      remove[#remove + 1] = pack(MEMBER, 'e', ends, place)
      remove[#remove + 1] = pack(MEMBER, 'w', ends_wall, place)
    else
      set[#set + 1] = 'l:' .. place
      set[#set + 1] = pack(LEASE, by, their_ttl, ends, ends_wall, members, digest, parked)
    end
    remove[#remove + 1] = 'm' .. place .. heir
    remove[#remove + 1] = waiter

    -- A lease made for it ends no later than its place would have.
    by, their_ttl, members, digest, parked = to, term, 0, 0, 0
    ends, ends_wall = min(clock + term, place_ends), min(now + term, place_ends_wall)
    if theirs then
      by, their_ttl, ends, ends_wall, members, digest, parked = read(LEASE, theirs)
    else
      add[3], add[4], add[5], add[6] = '0', pack(MEMBER, 'e', ends, next_lease), '0', pack(MEMBER, 'w', ends_wall, next_lease)
    end
    digest = (digest + tonumber(sub(heir, 21), 16)) % DIGESTS
    set[#set + 1] = 'l:' .. next_lease
    set[#set + 1] = pack(LEASE, by, their_ttl, ends, ends_wall, members + 1, digest, parked)
    first_end, first_wall, longest = min(first_end, ends), min(first_wall, ends_wall), max(longest, their_ttl)
    bound = min(bound, margin)
    set[#set + 1] = 't:' .. heir
    set[#set + 1] = pack(HOLDER, 'H', '0', next_lease, to, permits, term, now, fence, slots) .. sub(kept, at)
    local size = #add
    add[size + 1], add[size + 2] = '0', 'm' .. next_lease .. heir
    add[size + 3], add[size + 4] = '0', pack(MEMBER, 'g', fence, heir)
    message = format('granted %s %d %s %d ', heir, fence, slots, limit >= 0 and limit or 1) .. records
  end
