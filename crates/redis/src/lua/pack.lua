-- pack: packs and unpacks the head, records and entries, and computes when the keys expire.
-- keys   records order
-- args   now
-- reply  nothing
-- cost   nothing but time

-- stated, pinned: the limit that holders and waiters state, and the limit that an operator has set.
-- passed: how far the store's clock has advanced in all. Unlike that clock it never goes back, and
-- unlike the ledger's clock it is never held back. due: a lower bound, on the scale of passed, of
-- the first end of a lease or a memory. longest: the longest ttl since the name was last idle.
-- memory: until when a series is remembered at most. deadline: when the keys expire by themselves,
-- on the store's clock; 0 for never. rows: the number of records and entries in the hash. wide:
-- whether they are so many that the order lists them. free: the free ranges below the top,
-- ascending. spread: whether these are so many that the order has them.
local function blank_head()
  return { UNTOUCHED_HEAD, wide = false, spread = false, free = {} }
end

-- Gives nothing if the text is damaged.
local function parse_head(text)
  if #text < HEAD_SIZE then return nil end
  local version, FIELDS_OF_HEAD, ranges = read(HEAD, text)
  local at = HEAD_SIZE + 1
  if (version ~= VERSION and version ~= NAMED_VERSION) or flags > 7
      or #text < HEAD_SIZE + 8 * ranges then
    return nil
  end
  local free = {}
  for i = 1, ranges do
    local first_slot, last_slot
    first_slot, last_slot, at = read('<I4I4', text, at)
    free[i] = { first_slot, last_slot }
  end
  return {
    TABLE_OF_HEAD, free = free,
    is_named = version == NAMED_VERSION,
    paused = flags % 2 == 1 and sub(text, at) or nil, wide = flags % 4 >= 2, spread = flags >= 4,
  }
end

local function pack_head(h)
  local flags, free = (h.paused and 1 or 0) + (h.wide and 2 or 0) + (h.spread and 4 or 0), {}
  for i, range in ipairs(h.free) do free[i] = pack('<I4I4', range[1], range[2]) end
  return pack(HEAD, h.names and NAMED_VERSION or VERSION, HEAD_AS_PACKED, #free)
    .. table.concat(free) .. (h.paused or '')
end

-- The ledger's clock advances by at most the bound. So a server's clock that jumps forward ends no
-- lease whose holder is alive, and a clock that jumps back delays nothing.
local function advance_clock(h)
  local passed = max(now - h.wall, 0)
  h.wall, h.passed = now, h.passed + passed
  h.clock = h.clock + min(passed, h.bound)
end

-- Reads the tickets in a record, by their ids.
local function parse_tickets(id, lease, text, at)
  local tickets = {}
  while at <= #text do
    local number, permits, ttl, since, fence, slot, size = read(TICKET, text, at)
    local ticket = sub(id, 1, 24) .. format('%08x', number)
    at = at + TICKET_SIZE + size
    tickets[ticket] = {
      ticket = ticket, lease = id, inbox = lease.inbox, permits = permits, ttl = ttl, since = since,
      fence = fence,
      slots = permits == 1 and format('%d', slot) or format('%d-%d', slot, slot + permits - 1),
      about = sub(text, at - size, at - 1), home = 'record',
    }
  end
  if at ~= #text + 1 then error('the last ticket is longer than the text') end
  return tickets
end

-- Reads a record: a lease, and the memory of the series whose number 0 is the id of the lease.
-- Gives nothing if the text is damaged.
local function parse_record(id, text)
  if #text < RECORD_SIZE then return nil end
  local what, last, till, open, ttl, ends, ends_wall, members, digest, parked, inbox, listed, size =
    read(RECORD, text)
  local from, record = RECORD_SIZE + 1, { id = id, memory = false, lease = false, is_kept = true }
  local causes = sub(text, from, from + size - 1)
  if what > 3 or #causes < size or match(causes, '[^%d%l= ]') then return nil end
  if what % 2 == 1 then
    record.memory = { series = id, last = last, ['until'] = till, open = open, ends = {} }
    for number, cause in string.gmatch(causes, '(%d+)=(%l+) ') do
      record.memory.ends[#record.memory.ends + 1] = { number + 0, cause }
    end
  end
  if what >= 2 then
    record.lease = {
      id = id, inbox = inbox ~= NOBODY and inbox or nil, ttl = ttl, ends = ends,
      ends_wall = ends_wall,
      members = members, digest = digest, parked = parked,
    }
  end
  if listed > 0 then record.listed, record.by_due = listed, pack(MEMBER, 'e', listed, id) end
  local ok, tickets = pcall(parse_tickets, id, record.lease, text, from + size)
  if not ok then return nil end
  record.tickets = tickets
  return record
end

local function pack_ticket(entry)
  return pack(TICKET, tonumber(sub(entry.ticket, 25), 16), entry.permits, entry.ttl, entry.since,
    entry.fence, match(entry.slots, '^%d+') + 0, #entry.about) .. entry.about
end

local function pack_record(record)
  local memory, lease, causes, parts = record.memory, record.lease, {}, {}
  for i, ended in ipairs(memory and memory.ends or {}) do
    causes[i] = format('%d=%s ', ended[1], ended[2])
  end
  parts[2] = table.concat(causes)
  local past = memory or { last = 0, ['until'] = 0, open = 0 }
  local held = lease or { ttl = 0, ends = 0, ends_wall = 0, members = 0, digest = 0, parked = 0 }
  parts[1] = pack(RECORD, (memory and 1 or 0) + (lease and 2 or 0), past.last, past['until'],
    past.open, held.ttl, held.ends, held.ends_wall, held.members, held.digest, held.parked,
    held.inbox or NOBODY, record.listed or 0, #parts[2])
  for _, entry in pairs(record.tickets) do parts[#parts + 1] = pack_ticket(entry) end
  return table.concat(parts)
end

local function pack_entry(entry)
  local inbox = entry.inbox or NOBODY
  if entry.fence then
    return pack(HOLDER, 'H', '0', entry.lease, inbox, entry.permits, entry.ttl, entry.since,
      entry.fence, entry.slots) .. entry.about
  end
  if entry.wishes then
    return pack(WISHER, 'V', entry.parked, entry.lease, inbox, entry.permits, entry.ttl,
      entry.since, entry.rank, entry.priority, entry.margin, entry.next_lease, entry.wishes)
      .. entry.about
  end
  return pack(WAITER, 'W', entry.parked, entry.lease, inbox, entry.permits, entry.ttl, entry.since,
    entry.rank, entry.priority, entry.margin, entry.next_lease) .. entry.about
end

-- Reads an entry. An entry with a fence is a holder, and an entry without one is a waiter. Gives
-- nothing if the text is damaged.
local function parse_entry(ticket, text)
  local is_holder, is_wisher = sub(text, 1, 1) == 'H', sub(text, 1, 1) == 'V'
  local ok, kind, parked, lease, inbox, permits, ttl, since, x, y, z, next_lease, at, after =
    pcall(read, is_holder and HOLDER or is_wisher and WISHER or WAITER, text)
  if not ok or (kind ~= 'H' and kind ~= 'W' and kind ~= 'V') then return nil end
  local entry = {
    ticket = ticket, lease = lease, inbox = inbox ~= NOBODY and inbox or nil,
    permits = permits, ttl = ttl,
    since = since, home = 'entry',
  }
  if is_holder then
    entry.fence, entry.slots, entry.about = x, y, sub(text, z)
    return entry
  end
  entry.rank, entry.priority, entry.margin, entry.next_lease, entry.parked =
    x, y, z, next_lease, parked
  if is_wisher then entry.wishes, at = at, after end
  entry.about = sub(text, at)
  return entry
end

-- Gives for how long the head must outlive everything else because its last fence is ahead of the
-- clock. A head that was forgotten earlier could grant that fence again.
local function owed(h)
  local ahead = h.fence - now
  return ahead >= 0 and ahead <= HALF_DAY + HALF_DAY and ahead + 1 or 0
end

-- Moves the deadline if it is too near or too far, and gives the milliseconds from now until the
-- keys expire. The keys outlive every lease by half a day or more, so that no smaller step of the
-- clock ends one. They outlive memories, and a fence that is ahead of the clock, by a second. Tests
-- that set the clock get half a day for these as well, because the server expires keys by its own
-- clock.
local function set_deadline(h, is_idle)
  local need = max(is_idle and h.memory - h.clock or h.longest + HALF_DAY, owed(h))
  local most = need + ((is_idle and given_now == '') and SECOND or HALF_DAY)
  local left = h.deadline - now
  if h.deadline > 0 and left >= need and left <= most then return nil end
  h.deadline = now + most
  return format('%d', floor(most / 1000))
end
