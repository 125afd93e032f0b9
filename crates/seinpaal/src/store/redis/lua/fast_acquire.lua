-- fast_acquire: a newcomer is let in at once, or stands in line where all is taken.
-- keys   records order
-- args   those of acquire
-- reply  granted queued
-- cost   queued: one HGET

  if kind ~= '-' and kind ~= asked_kind then break end
  -- The limit to go by, and what is stated from now on. Where something is to be refused or set, nothing is plain.
  local going = (rule == '-' or pinned >= 0 or stated >= 0) and limit or asked_limit
  if (rule == 'R' and pinned < 0 or rule == 'E') and going ~= asked_limit then break end
  if (rule == 'S' and stated >= 0 and stated ~= asked_limit) or permits > going then break end
  if stated < 0 then stated = asked_limit or (pinned < 0 and going or -1) end
  local is_let_in, has_free_slots, reply = permits <= going - held, false, nil
  if is_let_in and waiting > 0 then break end

  local id, term, known, asked_margin = lease, ttl, found[4], margin
  if not is_let_in then
    local most = enqueue == 'yes' and UNBOUNDED or match(enqueue, '^%d+$')
    if held < going or not most or waiting >= most + 0 or (most + 0 > MOST_WAITING and enqueue ~= 'yes') then break end
    id, term, margin = place, place_ttl, min(margin, floor(place_ttl / 2))
    known = try('hget', records, 'l:' .. id)
    if type(known) == 'table' then break end
  end

  -- Under a lease, which a place in line renews.
  local by, their_ttl, ends, ends_wall, members, digest, parked = inbox, term, clock + term, now + term, 0, 0, 0
  if known then
    if #known ~= 80 then break end
    by, their_ttl, ends, ends_wall, members, digest, parked = read(LEASE, known)
  end
  if known and not is_let_in then
    remove[1], remove[2] = pack(MEMBER, 'e', ends, id), pack(MEMBER, 'w', ends_wall, id)
    ends, ends_wall = clock + term, now + term
  end
  digest = (digest + digest_of(ticket)) % DIGESTS
  set[1], set[2] = 'l:' .. id, pack(LEASE, by, their_ttl, ends, ends_wall, members + 1, digest, parked)
  add[1], add[2] = '0', 'm' .. id .. ticket
  if not known or not is_let_in then
    add[3], add[4], add[5], add[6] = '0', pack(MEMBER, 'e', ends, id), '0', pack(MEMBER, 'w', ends_wall, id)
  end
  first_end, first_wall, longest = min(first_end, ends), min(first_wall, ends_wall), max(longest, their_ttl, ttl)

  set[3] = 't:' .. ticket
  if is_let_in then
    local from, last = top, top + permits - 1
    if top > held then
      local member = try('zrangebylex', order, '[f', '(g', 'limit', '0', '1')[1]
      if not member or #member ~= 17 then break end
      local _, lowest, highest = read(FREE, member)
      from, last = lowest, lowest + permits - 1
      if last > highest then break end
      remove[#remove + 1] = member
      if last < highest then
        add[#add + 1] = '0'
        add[#add + 1] = pack(FREE, 'f', last + 1, highest)
      end
    else
      top = top + permits
    end
    local slots = from == last and format('%d', from) or format('%d-%d', from, last)
    holders, held, fence = holders + 1, held + permits, max(fence + 1, now)
    set[4] = pack(HOLDER, 'H', '0', lease, inbox, permits, ttl, now, fence, slots) .. about
    add[#add + 1] = '0'
    add[#add + 1] = pack(MEMBER, 'g', fence, ticket)
    if not found[3] then
      past = past + 1
    elseif open == 0 then
      remove[#remove + 1] = pack(MEMBER, 'p', till, series)
    end
    till = max(till, clock + ttl)
    memory = max(memory, till)
    set[5], set[6] = 's:' .. series, pack(MEMORY, number, till, open + 1) .. ends_before
    reply = format('granted %s %d %s %d %d', ticket, fence, slots, going, max(ends - clock, 0))
  else
    arrival, waiting = max(arrival + 1, clock), waiting + 1
    local rank = arrival - priority * 10000000
    set[4] = pack(WAITER, 'W', '0', id, inbox, permits, ttl, now, rank, priority, asked_margin, lease) .. about
    add[#add + 1] = '0'
    add[#add + 1] = pack(MEMBER, 'q', rank + RANK_BIAS, ticket)
    reply = format('queued %s %d %d', ticket, waiting, going)
  end
  bound, is_growth, kind = min(bound, margin), true, asked_kind
  if not text then
    add[#add + 1] = '0'
    add[#add + 1] = 'z'
    if SETTLING then
      set[#set + 1] = 'n'
      set[#set + 1] = call('cluster', 'myid') .. ' 0'
    end
  end
