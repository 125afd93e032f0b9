-- settle: ends what has run out, serves the queue, and forgets what is old.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   at most WORK tickets ended, forgotten, parked or granted; the rest is the backlog

local WORK, MOST_PAST = 128, 65536
local work, has_backlog = WORK, false
local wakeups, listeners = {}, {}
local prefix = match(records, '^[^{]*')

local function has_work()
  if work == 0 then
    has_backlog = true
    return false
  end
  work = work - 1
  return true
end

local function channel_of(inbox)
  return prefix .. 'inbox:' .. inbox
end

-- Whether somebody listens at an inbox. Who asks is there, whatever has become of its inbox.
local function is_listening(inbox)
  if inbox == asker then return true end
  if listeners[inbox] == nil then
    listeners[inbox] = call('pubsub', 'numsub', channel_of(inbox))[2] > 0
  end
  return listeners[inbox]
end

local function wake(entry, what)
  if entry.inbox then
    wakeups[#wakeups + 1] = { ticket = entry.ticket, inbox = entry.inbox, what = what }
  end
end

local function limit_now()
  return head.limit or 1
end

-- Standing under leases.

local function join(entry, ttl, margin)
  local lease = lease_of(entry.lease)
  if not lease then
    lease = {
      id = entry.lease, inbox = entry.inbox, ttl = ttl, ends = head.clock + ttl, ends_wall = now + ttl,
      members = 0, digest = 0, parked = 0,
    }
  end
  lease.members = lease.members + 1
  lease.digest = (lease.digest + tonumber(sub(entry.ticket, 21), 16)) % DIGESTS
  head.bound = min(head.bound, margin)
  put_lease(lease)
  return lease
end

local function part(entry)
  local lease = lease_of(entry.lease)
  if not lease then return end
  lease.members = lease.members - 1
  lease.digest = (lease.digest - tonumber(sub(entry.ticket, 21), 16)) % DIGESTS
  if entry.parked == '1' then lease.parked = lease.parked - 1 end
  if lease.members == 0 then remove_lease(lease) else put_lease(lease) end
end

-- Leaving.

local function leave(entry)
  remove_entry(entry)
  part(entry)
  if entry.fence then
    head.holders = head.holders - 1
    free_slots(slots_of(entry.slots))
  else
    head.waiting = head.waiting - 1
  end
end

local function remember(ticket, cause, ttl)
  local past = past_of(ticket)
  if not past then
    head.past = head.past + 1
    past = { ticket = ticket }
  end
  past.cause, past['until'] = cause, head.clock + ttl
  put_past(past)
end

local function end_entry(entry, cause)
  leave(entry)
  if entry.fence or cause ~= 'expired' then
    remember(entry.ticket, cause, entry.ttl)
    wake(entry, 'ended ' .. entry.ticket .. ' ' .. cause)
  end
end

local function end_lease(lease)
  while true do
    local entry = first_member(lease.id)
    if not entry or not has_work() then return end
    end_entry(entry, 'expired')
  end
end

-- Time.

local function expire_by_clock()
  while head.holders + head.waiting > 0 and head.first_end <= head.clock do
    local lease = first_lease('e', 'f')
    head.first_end = lease.ends
    if lease.ends > head.clock or not has_work() then return end
    end_lease(lease)
  end
end

-- Where somebody listens, only the ledger's clock can end a lease.
local function expire_by_wall()
  while head.holders + head.waiting > 0 and head.first_wall <= now do
    local lease = first_lease('w', 'x')
    head.first_wall = lease.ends_wall
    if lease.ends_wall > now or not has_work() then return end
    if lease.inbox and is_listening(lease.inbox) then
      lease.ends_wall = now + max(lease.ends - head.clock, 1)
      put_lease(lease)
    else
      end_lease(lease)
    end
  end
end

local function forget()
  while head.past > 0 and (head.first_past <= head.clock or head.past > MOST_PAST) do
    local member = first('p', 'q')
    local past = member and past_of(sub(member, 18))
    if not past then corrupt('a ticket that is remembered is not there') end
    head.first_past = past['until']
    local is_due = past['until'] <= head.clock or head.past > MOST_PAST
    if not is_due or not has_work() then return end
    head.past = head.past - 1
    remove_past(past)
  end
end

-- The order of service.

local function next_fence()
  head.fence = max(head.fence + 1, now)
  return head.fence
end

local function hold(entry)
  entry.slots = take_slots(entry.permits)
  head.holders = head.holders + 1
  head.held = head.held + entry.permits
  entry.fence = next_fence()
end

local function is_open()
  return head.waiting > 0 and not head.paused and head.held < limit_now()
end

local function fits(permits)
  return permits <= limit_now() - head.held
end

local function next_for(waiter)
  if waiter.permits > limit_now() then return 'end' end
  if waiter.inbox and not is_listening(waiter.inbox) then return 'park' end
  return fits(waiter.permits) and 'grant' or 'stop'
end

local function park(entry)
  entry.parked = '1'
  put_entry(entry)
  local lease = lease_of(entry.lease)
  if lease then
    lease.parked = lease.parked + 1
    put_lease(lease)
  end
end

local function grant_waiter(entry)
  part(entry)
  head.waiting = head.waiting - 1
  entry.lease = entry.next_lease
  hold(entry)
  entry.since = now
  join(entry, entry.ttl, entry.margin)
  put_entry(entry)
  wake(entry, format('granted %s %d %s %d', entry.ticket, entry.fence, entry.slots, limit_now()))
end

local function serve()
  while is_open() do
    local waiter = first_waiter()
    if not waiter then return end
    local what = next_for(waiter)
    if what == 'stop' or not has_work() then return end
    if what == 'grant' then
      grant_waiter(waiter)
    elseif what == 'park' then
      park(waiter)
    else
      end_entry(waiter, 'toomany')
    end
  end
end

local function can_serve_more()
  if work > 0 or not is_open() then return false end
  local waiter = first_waiter()
  return waiter and next_for(waiter) ~= 'stop'
end

-- Forgetting comes last: it must not take a waiter's share of the work.
local function settle()
  expire_by_clock()
  expire_by_wall()
  serve()
  forget()
end
