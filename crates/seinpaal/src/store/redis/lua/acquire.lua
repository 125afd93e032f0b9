-- acquire: take permits, join the queue, or learn how an earlier try went.
-- keys   records order
-- args   ticket permits limit enqueue priority lease ttl margin waiter_lease waiter_ttl not_after about
-- reply  granted queued busy other-limit too-many too-late ended
-- cost   uncontended: HGET head, entry, past and lease, one HSET, one ZADD
--
-- limit: - or R, A, S (refuse, adopt, set) and the number  enqueue: no, yes, or the most that may wait

local function parse_acquire(text)
  local ticket, permits, limit, enqueue, priority, lease, ttl, margin, waiter_lease, waiter_ttl, not_after, about =
    match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  local rule = limit and sub(limit, 1, 1)
  if not rule or not string.find('-RAS', rule, 1, true) then refuse('SEINPAALARGUMENT', 'acquire cannot be read') end
  if #about > MOST_ABOUT then refuse('SEINPAALARGUMENT', 'about is too long') end
  return {
    ticket = id(ticket, 'the ticket'), permits = permits_of(permits, 1, 'permits'), rule = rule,
    stated = rule ~= '-' and permits_of(sub(limit, 2), 0, 'the limit') or nil,
    enqueue = enqueue ~= 'no', most = match(enqueue, '%d') and number(enqueue, 0, 4294967295, 'the most waiting'),
    priority = number(priority, -100, 100, 'the priority'), lease = id(lease, 'the lease'),
    ttl = ttl_of(ttl, 'ttl'), margin = number(margin, 0, UNBOUNDED, 'the margin'),
    waiter_lease = id(waiter_lease, 'the waiter\'s lease'), waiter_ttl = ttl_of(waiter_ttl, 'the waiter\'s ttl'),
    not_after = not_after ~= '-' and number(not_after, 0, UNBOUNDED, 'not-after') or nil, about = about,
  }
end

-- How the ticket stands now. A wakeup about it would only repeat this reply.
local function standing_of(ticket)
  for i = #wakeups, 1, -1 do
    if wakeups[i].ticket == ticket then table.remove(wakeups, i) end
  end
  local entry = entry_of(ticket)
  if not entry then return 'ended ' .. ticket .. ' ' .. (cause_of(ticket) or 'expired') end
  if not entry.fence then return format('queued %s %d %d', ticket, head.waiting, limit_now()) end
  local lease = lease_of(entry.lease)
  local left = max((lease and lease.ends or 0) - head.clock, 0)
  return format('granted %s %d %s %d %d', ticket, entry.fence, entry.slots, limit_now(), left)
end

-- Puts a waiter under the lease of its place and renews that.
local function stand_in_line(entry, ask)
  local lease = join(entry, ask.waiter_ttl, min(ask.margin, floor(ask.waiter_ttl / 2)))
  lease.ends = head.clock + ask.waiter_ttl
  lease.ends_wall = now + ask.waiter_ttl
  put_lease(lease)
end

local function new_entry(ask, lease)
  return {
    ticket = ask.ticket, lease = lease, inbox = asker ~= '' and asker or nil, permits = ask.permits,
    ttl = ask.ttl, since = now, about = ask.about,
  }
end

-- A waiter that is heard from again keeps its rank and comes back into the order of service.
local function look(entry, ask)
  if not entry.fence then
    part(entry)
    entry.lease, entry.inbox, entry.parked = ask.waiter_lease, asker ~= '' and asker or nil, '0'
    put_entry(entry)
    stand_in_line(entry, ask)
    serve()
  end
  return standing_of(ask.ticket)
end

local function limit_for(ask)
  if ask.rule == '-' then return limit_now() end
  if head.limit and ask.rule == 'A' then return head.limit end
  return ask.stated
end

-- A newcomer never passes a waiter that could be served.
local function is_free_for(permits, limit)
  if permits > limit - head.held or head.paused then return false end
  return head.waiting == 0 or not first_waiter()
end

local function refusal(ask)
  if not ask.enqueue then return head.paused and 'paused' or 'full' end
  return ask.most and head.waiting >= ask.most and 'too-many-waiting'
end

local function grant_at_once(ask)
  local entry = new_entry(ask, ask.lease)
  hold(entry)
  join(entry, ask.ttl, ask.margin)
  put_entry(entry)
  return standing_of(ask.ticket)
end

-- The rank: waiting for ten seconds outweighs one step of priority.
local function enqueue(ask)
  local entry = new_entry(ask, ask.waiter_lease)
  head.arrival = max(head.arrival + 1, head.clock)
  entry.rank, entry.priority = head.arrival - ask.priority * 10000000, ask.priority
  entry.next_lease, entry.margin, entry.parked = ask.lease, ask.margin, '0'
  head.waiting = head.waiting + 1
  put_entry(entry)
  head.longest = max(head.longest, ask.ttl)
  stand_in_line(entry, ask)
  serve()
  return standing_of(ask.ticket)
end

local function ask_for(ask)
  local limit = limit_for(ask)
  if ask.rule == 'R' and head.limit and head.limit ~= limit then
    return format('other-limit %s %d %d', ask.ticket, head.limit, limit)
  end
  if ask.permits > limit and limit > 0 then
    return format('too-many %s %d %d', ask.ticket, ask.permits, limit)
  end
  if head.limit and head.limit ~= limit then
    head.limit = limit
    serve()
  end
  if is_free_for(ask.permits, limit) then
    head.limit = limit
    return grant_at_once(ask)
  end
  local why = refusal(ask)
  if why then return format('busy %s %s %d %d %d', ask.ticket, why, limit, head.held, head.waiting) end
  head.limit = limit
  return enqueue(ask)
end

local function acquire(ask)
  if ask.not_after and now > ask.not_after then return 'too-late ' .. ask.ticket end
  local entry = entry_of(ask.ticket)
  if entry then return look(entry, ask) end
  local cause = cause_of(ask.ticket)
  if cause then return 'ended ' .. ask.ticket .. ' ' .. cause end
  return ask_for(ask)
end

operations.acquire = function(text)
  local ask = parse_acquire(text)
  return function() return acquire(ask) end
end
