-- fast: what the fast paths of acquire, release and renew are made of.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing
-- cost   one HGET a lease; one HSET, one ZADD, one HDEL and one ZREM if there is something to remove
--
-- When a name is in a plain state, a fast path does what the full script would do, with a dozen functions in
-- place of a hundred: making those is most of what the full script costs. Whenever something is not plain, it
-- gives up before its first write, by answering nothing or by an error, and the full script begins anew.

local lower, find = string.lower, string.find
local has_written, leases, loaded = false, {}, {}
local set, del, add, remove = {}, {}, {}, {}

local function is_id(text)
  return #text == 32 and find(text, '^%x+$') and lower(text) == text
end

-- One request, from somebody who can be named.
local function is_plain_call()
  return #ARGV == 4 and (asker == '' or is_id(asker))
end

local function is_plain(h)
  if h.paused or (h.pinned == '1' and h.deadline > 0) then return false end
  if h.waiting > 0 and h.held < (h.limit or 1) then return false end
  return h.holders + h.waiting == 0 or (h.first_end > h.clock and h.first_wall > now)
end

-- The head, if nothing has run out and nobody who waits could be served.
local function plain_head(text)
  local h = text and parse_head(text)
  if not text and call('exists', records, order) == 0 then h = blank_head() end
  local seen = match(fence_seen, '^%d+$') + 0
  if not h or not now or seen > MOST_FENCE_SEEN then return nil end
  advance_clock(h)
  h.fence = max(h.fence, seen)
  return is_plain(h) and h
end

local function next_fence(h)
  h.fence = max(h.fence + 1, now)
  return h.fence
end

-- Leases, each read once; written at the end by put_leases.

local function keep_lease(id, text)
  local lease = text and parse_lease(id, text)
  if text and not lease then error('a lease cannot be read') end
  leases[id], loaded[id] = lease, lease
  return lease
end

local function lease_of(id)
  if leases[id] == nil then return keep_lease(id, call('hget', records, 'l:' .. id)) end
  return leases[id]
end

local function join(h, id, ticket, inbox, ttl, margin)
  local lease = lease_of(id)
  if not lease then
    lease = { id = id, inbox = inbox, ttl = ttl, ends = h.clock + ttl, ends_wall = now + ttl, members = 0,
      digest = 0, parked = 0 }
    leases[id] = lease
  end
  lease.members = lease.members + 1
  lease.digest = (lease.digest + tonumber(sub(ticket, 21), 16)) % DIGESTS
  h.bound = min(h.bound, margin)
  return lease
end

local function part(id, ticket)
  local lease = lease_of(id)
  if not lease then error('a lease is not there') end
  lease.members = lease.members - 1
  lease.digest = (lease.digest - tonumber(sub(ticket, 21), 16)) % DIGESTS
  if lease.members == 0 then leases[id] = false end
end

-- A member takes the place of another; either may be nothing.
local function move(old, new)
  if old == new then return end
  if old then remove[#remove + 1] = old end
  if new then
    add[#add + 1] = '0'
    add[#add + 1] = new
  end
end

local function put(field, value)
  set[#set + 1] = field
  set[#set + 1] = value
end

local function put_leases(h)
  for id, lease in pairs(leases) do
    local old = loaded[id] or {}
    if lease then
      put('l:' .. id, pack_lease(lease))
      h.first_end, h.first_wall = min(h.first_end, lease.ends), min(h.first_wall, lease.ends_wall)
      h.longest = max(h.longest, lease.ttl)
    elseif loaded[id] then
      del[#del + 1] = 'l:' .. id
    end
    move(old.by_end, lease and pack(MEMBER, 'e', lease.ends, id))
    move(old.by_wall, lease and pack(MEMBER, 'w', lease.ends_wall, id))
  end
end

local function put_holder(entry)
  put('t:' .. entry.ticket, pack_entry(entry))
  move(entry.by_lease, 'm' .. entry.lease .. entry.ticket)
  move(entry.by_rank, pack(MEMBER, 'g', entry.fence, entry.ticket))
end

-- What is due to be forgotten, among so many of the oldest. `newest` is when that ends which this call adds.
local function forget_among(h, most, newest)
  local members = call('zrangebylex', order, '[p', '(q', 'limit', '0', format('%d', most))
  for _, member in ipairs(members) do
    local _, till, ticket = read(MEMBER, member)
    h.first_past = till
    if till > h.clock and h.past <= MOST_PAST then return true end
    if till >= newest then error('what is added is forgotten at once') end
    h.past = h.past - 1
    del[#del + 1] = 'p:' .. ticket
    remove[#remove + 1] = member
  end
  h.first_past = UNBOUNDED
  return #members < most
end

-- Gives up if there is more to forget than this call may do.
local function forget(h, newest, work)
  if h.past == 0 or (h.first_past > h.clock and h.past <= MOST_PAST) then return end
  local past, dels, removes = h.past, #del, #remove
  if forget_among(h, 4, newest) then return end
  h.past = past
  while #del > dels do del[#del] = nil end
  while #remove > removes do remove[#remove] = nil end
  if not forget_among(h, work + 1, newest) then error('too much to forget') end
end

-- After this returns or fails, there is no way back. What only grows begins with a write that grows, anything
-- else with a removal: see state.
local function write(h, is_growth, is_idle)
  if h.past == 0 then h.first_past, h.memory = UNBOUNDED, 0 end
  local milliseconds = h.pinned == '0' and set_deadline(h, is_idle)
  put('h', pack_head(h))
  if is_growth then
    call('hset', records, unpack(set))
    has_written = true
  end
  if #del > 0 then
    call('hdel', records, unpack(del))
    has_written = true
  end
  if #remove > 0 then
    call('zrem', order, unpack(remove))
    has_written = true
  end
  if not is_growth then call('hset', records, unpack(set)) end
  if #add > 0 then call('zadd', order, unpack(add)) end
  if milliseconds then
    call('pexpire', records, milliseconds)
    call('pexpire', order, milliseconds)
  end
end

local function first_of(band, above)
  return call('zrangebylex', order, band, above, 'limit', '0', '1')[1]
end

local function look_in(h)
  if asker == '' or h.waiting == 0 then return '-' end
  local waiter = first_of('[q', '(r')
  local entry = waiter and call('hget', records, 't:' .. sub(waiter, 10))
  if not entry or sub(entry, 35, 66) ~= asker then return '-' end
  local _, ends = read(MEMBER, first_of('[e', '(f'))
  return format('%d', max(min(ends - h.clock, h.bound), 1))
end

local function done(h, reply)
  return { format('done %d 0 ', now) .. look_in(h), reply }
end

-- An answer, or nothing if the full script is to begin.
local function attempt(path)
  local ok, answer = pcall(path)
  if ok and answer then return answer end
  if not has_written then return nil end
  local why = type(answer) == 'table' and answer.err or tostring(answer)
  return redis.error_reply('SEINPAALTORN ' .. string.gsub(why, '[\r\n]', ' '))
end
