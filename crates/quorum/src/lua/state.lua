-- The state of a name: its head, its rows, and the order.
--
-- The hash has these fields, all of them text:
--   h          the head: the format, the kind, and the numbers named in HEAD
--   p          the reason of a pause, if the name is paused
--   f          the free slots, if any slot is held
--   lLEASE     a lease: inbox ends ends_wall members digest parked
--   tTICKET    a vote: vote lease inbox permits ttl since fence slots about
--              a waiter: waiter, or parked if it is passed over, lease inbox permits ttl since
--              rank priority about
--   eTICKET    a ticket that has ended, or the lease of an attach that is spent: until cause
--
-- The sorted set has members in bands. All scores are 0, so members are sorted as texts. A time, a
-- fence and a rank have 16 digits.
--   c ENDS LEASE       leases by when they end on the ledger's clock
--   d ENDS_WALL LEASE  leases by when they end on the node's clock
--   e UNTIL TICKET     what is remembered, by when it is forgotten
--   g FENCE TICKET     votes
--   k RANK TICKET      parked waiters
--   m LEASE TICKET     what stands under a lease
--   q RANK TICKET      waiters in the order of service

local FORMAT = 30
local NOBODY = '-'
-- Added to ranks in members, which have no sign. A rank is below zero by less than this.
local RANK_BIAS = 1000000000

-- stated, pinned: the limits that tickets state and that an operator has set, each with the version
--   of the change that set it, or 0. A limit that a take states in passing has no version.
-- clock, wall, bound: the ledger's clock; the node's clock at the last call; and by how much the
--   ledger's clock advances at most in a call.
-- fence: the greatest fence that was voted for. arrival: the latest arrival of a waiter.
-- recent: the lengths of the last holds (RecentHolds in crates/proto).
-- held, holders, waiting, past: how many slots, votes, waiters and memories there are.
-- memory: until when anything is remembered. longest: the longest ttl since the name was idle.
local HEAD = {
  'stated', 'stated_version', 'pinned', 'pinned_version', 'pause_version', 'clock', 'wall',
  'bound', 'fence', 'arrival', 'recent', 'held', 'holders', 'waiting', 'past', 'memory', 'longest',
}
local MAY_BE_MISSING = { stated = true, pinned = true }

local head
-- Whether the node has no hash for this name, and whether it has an order all the same.
local is_fresh, has_stale_order = false, false
-- The free slots, once they are read, and the ranges that came free since. The last free range has
-- no end.
local free, freed = nil, {}

-- The rows that this call has read or made, by their fields: false if there is none. The fields
-- that it has changed. The members of the order that it adds (true) and removes (false).
local rows, changed, placed = {}, {}, {}

local function blank_head()
  local blank = { kind = '-', bound = UNBOUNDED }
  for _, name in ipairs(HEAD) do
    if not blank[name] and not MAY_BE_MISSING[name] then blank[name] = 0 end
  end
  return blank
end

-- Gives nothing if the text is damaged.
local function parse_head(text)
  local version, kind, numbers = match(text, '^(%d+) ([smr-])(.*)$')
  local parsed, place = { kind = kind }, 0
  if tonumber(version) ~= FORMAT then return nil end
  for word in string.gmatch(numbers, '%S+') do
    place = place + 1
    local name = HEAD[place]
    if not name or not match(word, '^%d+$') and (word ~= '-' or not MAY_BE_MISSING[name]) then
      return nil
    end
    parsed[name] = tonumber(word)
  end
  return place == #HEAD and parsed or nil
end

local function head_text()
  local list = { FORMAT, head.kind }
  for _, name in ipairs(HEAD) do list[#list + 1] = head[name] or '-' end
  return words(unpack(list))
end

-- Formats before this one were packed, and began with their number in a byte.
local function refuse_head(text)
  local first = string.byte(text) or 0
  local version = first > 0 and first < 32 and first or tonumber(match(text, '^(%d+) '))
  if version and version ~= FORMAT then
    refuse('SEINPAALFORMAT',
      words('written in format', version .. ',', 'and this program reads format', FORMAT))
  end
  corrupt('the head of the name')
end

-- Takes the name for new, unless the keys are another program's. An order whose hash was evicted or
-- deleted is ours, and is dropped.
local function start_afresh()
  is_fresh, head = true, blank_head()
  if call('exists', records) == 1 then corrupt('the key is somebody else\'s') end
  if call('exists', order) == 0 then return end
  local is_set = call('type', order).ok == 'zset'
  local first = is_set and call('zrangebylex', order, '-', '+', 'limit', '0', '1')[1]
  if not first or not match(first, '^[cdegkmq]%x+$') or #first ~= 49 and #first ~= 65 then
    corrupt('the key is somebody else\'s')
  end
  has_stale_order = true
end

local function read_head()
  local text = call('hget', records, 'h')
  if not text then return start_afresh() end
  head = parse_head(text) or refuse_head(text)
  head.paused = call('hget', records, 'p') or nil
  if head.holders + head.waiting + head.past > 0 and call('exists', order) == 0 then
    corrupt('the order of the name is gone')
  end
end

local function free_slots()
  if not free then
    local text = not is_fresh and call('hget', records, 'f')
    local is_any_held = head.held > 0 or #freed > 0
    free = text and slots_read(text) or not is_any_held and { { 0, UNBOUNDED } } or {}
    if #free == 0 then corrupt('the free slots') end
  end
  -- Joined here, so that a call that ends many tickets joins them once.
  if #freed > 0 then free, freed = slots_union(free, freed), {} end
  return free
end

local function give_slots(slots)
  for _, range in ipairs(slots) do freed[#freed + 1] = range end
  head.held, has_freed = head.held - slots_count(slots), true
end

-- Rows.

local function by_number(band, n, id)
  return band .. format('%016.0f', n) .. id
end

local function number_in(member)
  return tonumber(sub(member, 2, 17))
end

-- The three kinds of rows, by the letter of their fields: how each is read and written, and under
-- which members the order has it.
local kinds = {
  l = {
    parse = function(text)
      local inbox, ends, ends_wall, members, digest, parked =
        match(text, '^(%S+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
      return inbox and {
        inbox = inbox ~= NOBODY and inbox or nil, ends = tonumber(ends),
        ends_wall = tonumber(ends_wall), members = tonumber(members), digest = tonumber(digest),
        parked = tonumber(parked),
      }
    end,
    text = function(lease)
      return words(lease.inbox or NOBODY, lease.ends, lease.ends_wall, lease.members, lease.digest,
        lease.parked)
    end,
    members = function(lease)
      return { by_number('c', lease.ends, lease.id), by_number('d', lease.ends_wall, lease.id) }
    end,
  },
  t = {
    parse = function(text)
      local standing, lease, inbox, permits, ttl, since, place, more, about =
        match(text, '^(%l+) (%x+) (%S+) (%d+) (%d+) (%d+) (%-?%d+) (%S+) (.*)$')
      local is_known = standing == 'vote' or standing == 'waiter' or standing == 'parked'
      if not is_known then return nil end
      local ticket = {
        lease = lease, inbox = inbox ~= NOBODY and inbox or nil, permits = tonumber(permits),
        ttl = tonumber(ttl), since = tonumber(since), about = about,
      }
      if standing == 'vote' then
        ticket.fence, ticket.slots = tonumber(place), slots_read(more)
      else
        ticket.rank, ticket.priority, ticket.is_parked =
          tonumber(place), tonumber(more), standing == 'parked'
      end
      local is_whole = ticket.slots and #ticket.slots > 0 or ticket.priority
      return is_whole and ticket or nil
    end,
    text = function(ticket)
      local standing = ticket.fence and 'vote' or ticket.is_parked and 'parked' or 'waiter'
      return words(standing, ticket.lease, ticket.inbox or NOBODY, ticket.permits, ticket.ttl,
        ticket.since, ticket.fence or ticket.rank,
        ticket.slots and slots_text(ticket.slots) or ticket.priority, ticket.about)
    end,
    members = function(ticket)
      local place
      if ticket.fence then
        place = by_number('g', ticket.fence, ticket.id)
      else
        place = by_number(ticket.is_parked and 'k' or 'q', ticket.rank + RANK_BIAS, ticket.id)
      end
      return { place, 'm' .. ticket.lease .. ticket.id }
    end,
  },
  e = {
    parse = function(text)
      local till, cause = match(text, '^(%d+) (%l+)$')
      return till and { till = tonumber(till), cause = cause }
    end,
    text = function(ended) return words(ended.till, ended.cause) end,
    members = function(ended) return { by_number('e', ended.till, ended.id) } end,
  },
}

-- Gives a row, or nothing.
local function get(kind, id)
  local field = kind .. id
  if rows[field] == nil then
    local text = not is_fresh and call('hget', records, field)
    local row = text and (kinds[kind].parse(text) or corrupt('the field ' .. field))
    if row then
      row.kind, row.id = kind, id
      row.listed = kinds[kind].members(row)
    end
    rows[field] = row or false
  end
  return rows[field] or nil
end

local function list(row, members)
  for _, member in ipairs(row.listed or {}) do placed[member] = false end
  for _, member in ipairs(members) do placed[member] = true end
  row.listed = members
end

local function put(row)
  rows[row.kind .. row.id], changed[row.kind .. row.id] = row, true
  list(row, kinds[row.kind].members(row))
end

local function remove(row)
  rows[row.kind .. row.id], changed[row.kind .. row.id] = false, true
  list(row, {})
end

-- Gives the first members of the order that begin so, as the order will be after this call. Their
-- numbers and ids have a fixed length, so that Lua sorts them as the server does in every locale.
local function listed(start, most)
  local found, touched = {}, 0
  for member, is_there in pairs(placed) do
    if sub(member, 1, #start) == start then
      touched = touched + 1
      if is_there then found[#found + 1] = member end
    end
  end
  local kept, added = {}, #found
  if not is_fresh then
    kept = call('zrangebylex', order, '[' .. start, '(' .. start .. '~', 'limit', '0',
      words(most + touched))
  end
  for _, member in ipairs(kept) do
    if #found == added + most then break end
    if placed[member] == nil then found[#found + 1] = member end
  end
  if added > 0 then table.sort(found) end
  for i = #found, most + 1, -1 do found[i] = nil end
  return found
end

-- Gives the row of a member. A member that a torn call has left must not end a lease early.
local function row_of(kind, member)
  local row = get(kind, sub(member, -32))
  for _, own in ipairs(row and row.listed or {}) do
    if own == member then return row end
  end
  corrupt('what is listed is not there: ' .. member)
end
