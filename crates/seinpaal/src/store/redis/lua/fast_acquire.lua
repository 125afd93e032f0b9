-- fast_acquire: a newcomer is let in at once, or stands in line where all is taken.
-- keys   records order
-- args   those of acquire
-- reply  granted queued
-- cost   granted: HMGET, HSET, ZADD; queued: HMGET, HGET, HSET, ZADD, and looking who is first

local ACQUIRE = '^acquire (%x+) (%d+) ([-RAS])(%d*) (%w+) (%-?%d+) (%x+) (%d+) (%d+) (%x+) (%d+) (%S+) (.*)$'

local function is_in_range(ask)
  local ids = ask.ticket .. ask.lease .. ask.place
  return #ask.ticket == 32 and #ask.lease == 32 and #ask.place == 32 and lower(ids) == ids
    and ask.permits >= 1 and ask.permits <= MOST_PERMITS and ask.priority >= -100 and ask.priority <= 100
    and ask.ttl >= MIN_TTL and ask.ttl <= MAX_TTL and ask.place_ttl >= MIN_TTL and ask.place_ttl <= MAX_TTL
    and ask.margin <= UNBOUNDED and #ask.about <= MOST_ABOUT
end

local function parse_ask()
  local ticket, permits, rule, stated, enqueue, priority, lease, ttl, margin, place, place_ttl, not_after, about =
    match(ARGV[4], ACQUIRE)
  if not ticket or (rule == '-') ~= (stated == '') then return nil end
  local ask = {
    ticket = ticket, permits = permits + 0, rule = rule, stated = rule ~= '-' and stated + 0, enqueue = enqueue,
    priority = priority + 0, lease = lease, ttl = ttl + 0, margin = margin + 0, place = place,
    place_ttl = place_ttl + 0, about = about,
  }
  if not is_in_range(ask) or (ask.stated and ask.stated > MOST_PERMITS) then return nil end
  if not_after ~= '-' and now > match(not_after, '^%d+$') + 0 then return nil end
  return ask
end

-- The limit to go by, if what is stored and what is stated agree on it.
local function agreed_limit(h, ask)
  if ask.rule == '-' then return h.limit or 1 end
  if h.limit and ask.rule == 'A' then return h.limit end
  return (not h.limit or h.limit == ask.stated) and ask.stated
end

-- The lowest free slots if they are in one piece.
local function take_slots(h, permits)
  if h.top <= h.held then
    h.top = h.top + permits
    return h.top - permits
  end
  local member = first_of('[f', '(g')
  local _, from, to = read(FREE, member)
  if to - from + 1 < permits then return nil end
  move(member, from + permits <= to and pack(FREE, 'f', from + permits, to) or nil)
  return from
end

local function new_entry(ask, lease)
  return {
    ticket = ask.ticket, lease = lease, inbox = asker ~= '' and asker or nil, permits = ask.permits,
    ttl = ask.ttl, since = now, about = ask.about,
  }
end

local function let_in(h, ask, limit)
  local entry, slot = new_entry(ask, ask.lease), take_slots(h, ask.permits)
  if not slot then return nil end
  local last = slot + ask.permits - 1
  entry.slots = slot == last and format('%d', slot) or format('%d-%d', slot, last)
  h.holders, h.held, entry.fence = h.holders + 1, h.held + ask.permits, next_fence(h)
  local lease = join(h, ask.lease, ask.ticket, entry.inbox, ask.ttl, ask.margin)
  put_holder(entry)
  return format('granted %s %d %s %d %d', ask.ticket, entry.fence, entry.slots, limit, max(lease.ends - h.clock, 0))
end

local function may_wait(h, ask)
  if ask.enqueue == 'yes' then return true end
  local most = match(ask.enqueue, '^%d+$')
  return most and most + 0 <= MOST_WAITING and h.waiting < most + 0
end

local function stand_in_line(h, ask, limit)
  if h.held < limit or not may_wait(h, ask) then return nil end
  local entry = new_entry(ask, ask.place)
  h.arrival = max(h.arrival + 1, h.clock)
  entry.rank, entry.priority = h.arrival - ask.priority * 10000000, ask.priority
  entry.next_lease, entry.margin, entry.parked = ask.lease, ask.margin, '0'
  local place_margin = min(ask.margin, floor(ask.place_ttl / 2))
  local lease = join(h, ask.place, ask.ticket, entry.inbox, ask.place_ttl, place_margin)
  lease.ends, lease.ends_wall = h.clock + ask.place_ttl, now + ask.place_ttl
  h.waiting, h.longest = h.waiting + 1, max(h.longest, ask.ttl)
  put('t:' .. ask.ticket, pack_entry(entry))
  move(nil, 'm' .. entry.lease .. ask.ticket)
  move(nil, pack(MEMBER, 'q', entry.rank + RANK_BIAS, ask.ticket))
  return format('queued %s %d %d', ask.ticket, h.waiting, limit)
end

local function acquire()
  local ask = is_plain_call() and parse_ask()
  if not ask then return nil end
  local found = call('hmget', records, 'h', 't:' .. ask.ticket, 'p:' .. ask.ticket, 'l:' .. ask.lease)
  local h = not found[2] and not found[3] and plain_head(found[1])
  local limit = h and agreed_limit(h, ask)
  if not limit or ask.permits > limit then return nil end
  keep_lease(ask.lease, found[4])
  if ask.rule ~= '-' then h.limit = limit end
  local fits = ask.permits <= limit - h.held
  if fits and h.waiting > 0 then return nil end
  local reply = (fits and let_in or stand_in_line)(h, ask, limit)
  if not reply then return nil end
  if not found[1] then move(nil, 'z') end
  put_leases(h)
  forget(h, UNBOUNDED, WORK)
  write(h, true, false)
  return done(h, reply)
end

do
  local answer = attempt(acquire)
  if answer then return answer end
end
