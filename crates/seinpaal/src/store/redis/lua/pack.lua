-- pack: how the head, leases and entries are packed, and when the keys expire.
-- keys   records order
-- args   now
-- reply  nothing
-- cost   nothing but time

-- first_end, first_wall and first_past are lower bounds, so that most calls need not look at the order.
-- stated, pinned: the limit by those who hold or wait, and by an operator, if there is one.
-- longest: the longest ttl since somebody came. memory: until when a series is remembered, at most.
-- deadline: when the keys expire by themselves, on the store's clock; 0: never.
local function blank_head()
  return {
    kind = '-', clock = 0, wall = 0, bound = UNBOUNDED, fence = 0, held = 0, holders = 0, waiting = 0,
    past = 0, arrival = 0, top = 0, first_end = UNBOUNDED, first_wall = UNBOUNDED, first_past = UNBOUNDED,
    longest = 0, memory = 0, deadline = 0,
  }
end

-- Nothing if it cannot be read.
local function parse_head(text)
  if #text < HEAD_SIZE then return nil end
  local version, kind, paused, stated, pinned, clock, wall, bound, fence, held, holders, waiting, past, arrival, top,
    first_end, first_wall, first_past, longest, memory, deadline = read(HEAD, text)
  if version ~= VERSION then return nil end
  return {
    stated = stated >= 0 and stated or nil, pinned = pinned >= 0 and pinned or nil, kind = kind,
    paused = paused == '1' and sub(text, HEAD_SIZE + 1) or nil,
    clock = clock, wall = wall, bound = bound, fence = fence, held = held, holders = holders,
    waiting = waiting, past = past, arrival = arrival, top = top, first_end = first_end,
    first_wall = first_wall, first_past = first_past, longest = longest, memory = memory, deadline = deadline,
  }
end

local function pack_head(h)
  return pack(HEAD, VERSION, h.kind, h.paused and '1' or '0', h.stated or -1, h.pinned or -1, h.clock, h.wall, h.bound, h.fence,
    h.held, h.holders, h.waiting, h.past, h.arrival, h.top, h.first_end, h.first_wall, h.first_past,
    h.longest, h.memory, h.deadline) .. (h.paused or '')
end

-- A clock that jumps forward ends no lease whose holder is alive, one that jumps backward delays nothing.
local function advance_clock(h)
  local passed = max(now - h.wall, 0)
  h.wall = now
  h.clock = h.clock + min(passed, h.bound)
end

local function pack_lease(lease)
  return pack(LEASE, lease.inbox or NOBODY, lease.ttl, lease.ends, lease.ends_wall, lease.members,
    lease.digest, lease.parked)
end

local function parse_lease(id, text)
  if #text ~= 80 then return nil end
  local inbox, ttl, ends, ends_wall, members, digest, parked = read(LEASE, text)
  return {
    id = id, inbox = inbox ~= NOBODY and inbox or nil, ttl = ttl, ends = ends, ends_wall = ends_wall,
    members = members, digest = digest, parked = parked,
    by_end = pack(MEMBER, 'e', ends, id), by_wall = pack(MEMBER, 'w', ends_wall, id),
  }
end

local function pack_entry(entry)
  local inbox = entry.inbox or NOBODY
  if entry.fence then
    return pack(HOLDER, 'H', '0', entry.lease, inbox, entry.permits, entry.ttl, entry.since, entry.fence,
      entry.slots) .. entry.about
  end
  return pack(WAITER, 'W', entry.parked, entry.lease, inbox, entry.permits, entry.ttl, entry.since,
    entry.rank, entry.priority, entry.margin, entry.next_lease) .. entry.about
end

-- One with a fence holds; one without waits. Nothing if it cannot be read.
local function parse_entry(ticket, text)
  local is_holder = sub(text, 1, 1) == 'H'
  local ok, kind, parked, lease, inbox, permits, ttl, since, x, y, z, next_lease, at =
    pcall(read, is_holder and HOLDER or WAITER, text)
  if not ok or (kind ~= 'H' and kind ~= 'W') then return nil end
  local entry = {
    ticket = ticket, lease = lease, inbox = inbox ~= NOBODY and inbox or nil, permits = permits, ttl = ttl,
    since = since, by_lease = 'm' .. lease .. ticket,
  }
  if is_holder then
    entry.fence, entry.slots, entry.about = x, y, sub(text, z)
    entry.by_rank = pack(MEMBER, 'g', x, ticket)
    return entry
  end
  entry.rank, entry.priority, entry.margin, entry.next_lease, entry.parked = x, y, z, next_lease, parked
  entry.about = sub(text, at)
  entry.by_rank = pack(MEMBER, parked == '1' and 'k' or 'q', x + RANK_BIAS, ticket)
  return entry
end

-- For how long the head must outlive everything else, because its last fence is not behind the clock yet.
local function owed(h)
  local ahead = h.fence - now
  return ahead >= 0 and ahead <= HALF_DAY + HALF_DAY and ahead + 1 or 0
end

-- When the keys are to expire, in milliseconds from now, should what is set be too near or too far. They
-- outlive every lease by half a day at least, so that no step of the clock below that ends one; what is
-- only remembered, a fence that is ahead of the clock among it, they outlive by a second. Under a clock that
-- tests give, time is not real.
local function set_deadline(h, is_idle)
  local need = max(is_idle and h.memory - h.clock or h.longest + HALF_DAY, owed(h))
  local most = need + ((is_idle and given_now == '') and SECOND or HALF_DAY)
  local left = h.deadline - now
  if h.deadline > 0 and left >= need and left <= most then return nil end
  h.deadline = now + most
  return format('%d', floor(most / 1000))
end
