-- fast_release: a holder gives back all it has, and who is next gets just that.
-- keys   records order
-- args   those of release
-- reply  released
-- cost   HMGET, HGET, HDEL, ZREM, HSET, ZADD; with a hand-over three HGET, one PUBSUB and one PUBLISH more

-- The first who waits, if what is given back is what it takes and all that is free.
local function heir_of(h, entry)
  local member = h.held == (h.limit or 1) and h.top == h.held and first_of('[q', '(r')
  local ticket = member and sub(member, 10)
  local heir = ticket and parse_entry(ticket, call('hget', records, 't:' .. ticket))
  return heir and heir.permits == entry.permits and heir
end

local function channel_of(inbox)
  return match(records, '^[^{]*') .. 'inbox:' .. inbox
end

local function is_there(heir)
  return not heir.inbox or heir.inbox == asker or call('pubsub', 'numsub', channel_of(heir.inbox))[2] > 0
end

local function hand_over(h, entry, heir)
  part(heir.lease, heir.ticket)
  h.waiting = h.waiting - 1
  heir.lease, heir.slots, heir.since, heir.fence = heir.next_lease, entry.slots, now, next_fence(h)
  join(h, heir.lease, heir.ticket, heir.inbox, heir.ttl, heir.margin)
  put_holder(heir)
end

local function wake(h, heir)
  if not heir.inbox then return end
  call('publish', channel_of(heir.inbox),
    format('granted %s %d %s %d ', heir.ticket, heir.fence, heir.slots, h.limit or 1) .. records)
end

-- Slots in more than one piece are left to the full script.
local function free(h, entry)
  local from, to = match(entry.slots, '^(%d+)%-?(%d*)$')
  if not from then return false end
  h.holders, h.held = h.holders - 1, h.held - entry.permits
  if h.holders > 0 then move(nil, pack(FREE, 'f', from + 0, (to == '' and from or to) + 0)) end
  return true
end

-- Nobody is here.
local function rest(h)
  h.bound, h.first_end, h.first_wall, h.longest, h.top = UNBOUNDED, UNBOUNDED, UNBOUNDED, 0, 0
end

local function remember(h, entry)
  local till = h.clock + entry.ttl
  h.past = h.past + 1
  forget(h, till, h.waiting > 0 and WORK - 1 or WORK)
  h.first_past, h.memory = min(h.first_past, till), max(h.memory, till)
  put('p:' .. entry.ticket, pack('<d', till) .. 'released')
  move(nil, pack(MEMBER, 'p', till, entry.ticket))
end

local function leave(entry)
  del[#del + 1] = 't:' .. entry.ticket
  move(entry.by_lease, nil)
  move(entry.by_rank, nil)
  part(entry.lease, entry.ticket)
end

local function give_back(h, entry)
  local heir = h.waiting > 0 and heir_of(h, entry)
  if h.waiting > 0 and not (heir and is_there(heir)) then return nil end
  local has_free_slots = h.top > h.held
  leave(entry)
  remember(h, entry)
  if heir then
    hand_over(h, entry, heir)
  elseif not free(h, entry) then
    return nil
  end
  put_leases(h)
  local is_idle = h.holders == 0
  if is_idle then rest(h) end
  write(h, false, is_idle)
  if is_idle and has_free_slots then call('zremrangebylex', order, '[f', '(g') end
  if heir then wake(h, heir) end
  return done(h, 'released ' .. entry.ticket .. ' 0')
end

local function release()
  local ticket = is_plain_call() and match(ARGV[4], '^release (%x+) all$')
  if not ticket or #ticket ~= 32 or lower(ticket) ~= ticket then return nil end
  local found = call('hmget', records, 'h', 't:' .. ticket)
  local h = found[1] and found[2] and plain_head(found[1])
  local entry = h and parse_entry(ticket, found[2])
  return entry and entry.fence and give_back(h, entry)
end

do
  local answer = attempt(release)
  if answer then return answer end
end
