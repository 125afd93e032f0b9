-- fast_release: a holder gives back all it has, and who is next gets just that.
-- keys   records order
-- args   those of release
-- reply  released
-- cost   one HGET; with a hand-over three more, one ZRANGEBYLEX, one PUBSUB and one PUBLISH

  if sub(found[2], 1, 1) ~= 'H' then break end
  local is_read, _, _, lease, keeper, permits, ttl, _, old_fence, slots = pcall(read, HOLDER, found[2])
  -- What another keeps is not ours to give back, or its keeper is to be told.
  if is_read and keeper ~= inbox then break end
  local known = is_read and try('hget', records, 'l:' .. lease)
  if type(known) ~= 'string' or #known ~= 80 then break end
  local reply, has_free_slots = 'released ' .. ticket .. ' 0', top > held

  remove[1], remove[2] = 'm' .. lease .. ticket, pack(MEMBER, 'g', old_fence, ticket)
  del[1] = 't:' .. ticket
  local by, their_ttl, ends, ends_wall, members, digest, parked = read(LEASE, known)
  members, digest = members - 1, (digest - digest_of(ticket)) % DIGESTS
  if members == 0 then
    del[2], remove[3], remove[4] = 'l:' .. lease, pack(MEMBER, 'e', ends, lease), pack(MEMBER, 'w', ends_wall, lease)
  else
    set[1], set[2] = 'l:' .. lease, pack(LEASE, by, their_ttl, ends, ends_wall, members, digest, parked)
  end

  local last_number, till, open = read(MEMORY, found[3])
  if open < 1 then break end
  till = max(till, clock + ttl)
  memory = max(memory, till)
  set[#set + 1] = 's:' .. series
  set[#set + 1] = pack(MEMORY, max(last_number, number), till, open - 1) .. sub(found[3], 25)
  if open == 1 then
    newest = till
    add[1], add[2] = '0', pack(MEMBER, 'p', till, series)
  end

  if waiting == 0 then
    local from, last = match(slots, '^(%d+)%-?(%d*)$')
    if not from then break end
    holders, held, is_idle = holders - 1, held - permits, holders == 1
    if is_idle then
      bound, first_end, first_wall, longest, top, stated = UNBOUNDED, UNBOUNDED, UNBOUNDED, 0, 0, -1
      if pinned < 0 then kind = '-' end
    else
      add[#add + 1] = '0'
      add[#add + 1] = pack(FREE, 'f', from + 0, (last == '' and from or last) + 0)
    end
  else
    -- Who is next takes just what is given back, and nothing else is free.
    local waiter = held == limit and top == held
      and try('zrangebylex', order, '[q', '(r', 'limit', '0', '1')[1]
    local heir = waiter and sub(waiter, 10)
    local kept = heir and try('hget', records, 't:' .. heir)
    if type(kept) ~= 'string' or #kept < 146 or sub(kept, 1, 1) ~= 'W' then break end
    local _, _, place, to, wanted, term, _, _, _, margin, next_lease, at = read(WAITER, kept)
    if wanted ~= permits or place == lease or place == next_lease or lease == next_lease then break end
    local heirs = sub(heir, 1, 24) .. '00000000'
    if heirs == series then break end
    local found_leases = try('hmget', records, 'l:' .. place, 'l:' .. next_lease, 's:' .. heirs)
    local there, theirs, known_of = found_leases[1], found_leases[2], found_leases[3]
    if not there or #there ~= 80 or (theirs and #theirs ~= 80) or (known_of and #known_of < 24) then break end
    if to ~= NOBODY then
      channel = match(records, BEFORE_INBOX) .. INBOX .. to
      local listeners = (to == asker or not LISTENERS) and 1 or try('pubsub', LISTENERS, channel)[2]
      if not listeners or listeners == 0 then break end
    end
    work, waiting, fence = WORK - 1, waiting - 1, max(fence + 1, now)

    by, their_ttl, ends, ends_wall, members, digest, parked = read(LEASE, there)
    local place_ends, place_ends_wall = ends, ends_wall
    members, digest = members - 1, (digest - digest_of(heir)) % DIGESTS
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
      local size = #add
      add[size + 1], add[size + 2] = '0', pack(MEMBER, 'e', ends, next_lease)
      add[size + 3], add[size + 4] = '0', pack(MEMBER, 'w', ends_wall, next_lease)
    end
    digest = (digest + digest_of(heir)) % DIGESTS
    set[#set + 1] = 'l:' .. next_lease
    set[#set + 1] = pack(LEASE, by, their_ttl, ends, ends_wall, members + 1, digest, parked)
    first_end, first_wall, longest = min(first_end, ends), min(first_wall, ends_wall), max(longest, their_ttl)
    bound = min(bound, margin)
    set[#set + 1] = 't:' .. heir
    set[#set + 1] = pack(HOLDER, 'H', '0', next_lease, to, permits, term, now, fence, slots) .. sub(kept, at)
    local size = #add
    add[size + 1], add[size + 2] = '0', 'm' .. next_lease .. heir
    add[size + 3], add[size + 4] = '0', pack(MEMBER, 'g', fence, heir)
    last_number, till, open = 0, 0, 0
    if known_of then last_number, till, open = read(MEMORY, known_of) end
    if not known_of then
      past = past + 1
    elseif open == 0 then
      remove[#remove + 1] = pack(MEMBER, 'p', till, heirs)
    end
    till = max(till, clock + term)
    memory = max(memory, till)
    set[#set + 1] = 's:' .. heirs
    set[#set + 1] = pack(MEMORY, max(last_number, tonumber(sub(heir, 25), 16)), till, open + 1)
      .. (known_of and sub(known_of, 25) or '')
    message = format('granted %s %d %s %d ', heir, fence, slots, limit) .. records
  end
