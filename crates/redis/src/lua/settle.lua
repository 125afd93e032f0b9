-- settle: ends leases that have run out, and serves the queue. At the end of a script it forgets
-- old
--   memories.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   at most WORK tickets are ended, forgotten, parked or granted; what is left is the backlog

ledger.work, ledger.has_backlog = WORK, false
ledger.wakeups, ledger.listeners = {}, {}

function ledger.has_work()
  if ledger.work == 0 then
    ledger.has_backlog = true
    return false
  end
  ledger.work = ledger.work - 1
  return true
end

-- Tells whether the name came to this node so lately that its listeners may not be here yet. The
-- field n has the node where the name was last at home. The first call that misses a listener at
-- another node starts the time of settling.
function ledger.is_settling()
  if SETTLING and ledger.settles == nil then
    local here, home = call('cluster', 'myid'), call('hget', records, 'n')
    local till = home and sub(home, 1, #here) == here and tonumber(sub(home, #here + 2))
    if not till then
      till = now + SETTLING
      ledger.home = format('%s %d', here, till)
    end
    ledger.settles = now < till and till <= now + SETTLING
  end
  return ledger.settles
end

function ledger.wake(entry, what)
  if entry.inbox then
    ledger.wakeups[#ledger.wakeups + 1] =
      { ticket = entry.ticket, inbox = entry.inbox, what = what }
  end
end

function ledger.limit_now()
  return head.pinned or head.stated or 1
end

-- A limit that no operator pinned ends with the last holder and waiter, even while tickets are
-- remembered.
function ledger.drop_terms()
  if head.holders + head.waiting > 0 then return end
  head.stated = nil
  if not head.pinned then head.kind = '-' end
end

-- Standing under leases.

function ledger.join(entry, ttl, margin)
  local lease = ledger.lease_of(entry.lease)
  if not lease then
    lease = {
      id = entry.lease, inbox = entry.inbox, ttl = ttl, ends = head.clock + ttl,
      ends_wall = now + ttl,
      members = 0, digest = 0, parked = 0,
    }
  end
  lease.members = lease.members + 1
  lease.digest = (lease.digest + digest_of(entry.ticket)) % DIGESTS
  head.bound = min(head.bound, margin)
  ledger.put_lease(lease)
  return lease
end

function ledger.part(entry)
  local lease = ledger.lease_of(entry.lease)
  if not lease then return end
  lease.members = lease.members - 1
  lease.digest = (lease.digest - digest_of(entry.ticket)) % DIGESTS
  if entry.parked == '1' then lease.parked = lease.parked - 1 end
  if lease.members == 0 then ledger.remove_lease(lease) else ledger.put_lease(lease) end
end

-- Leaving.

function ledger.leave(entry)
  ledger.remove_entry(entry)
  ledger.part(entry)
  if entry.fence then
    head.holders = head.holders - 1
    ledger.free_slots(ledger.slots_of(entry.slots))
  else
    head.waiting = head.waiting - 1
  end
end

-- Notes the cause of a number's end. A number that was released has no note.
function ledger.note(ends, number, cause)
  local at = #ends + 1
  while at > 1 and ends[at - 1][1] >= number do at = at - 1 end
  if ends[at] and ends[at][1] == number then table.remove(ends, at) end
  if cause ~= 'released' then table.insert(ends, at, { number, cause }) end
  if #ends > MOST_ENDS then table.remove(ends, 1) end
end

-- Makes sure that no ticket of this series up to this number is granted from now on. opened: 1 for
-- a grant, -1 for its end, 0 otherwise.
function ledger.raise(ticket, ttl, opened, cause)
  local series, number = ledger.series_of(ticket), ledger.number_of(ticket)
  local memory = ledger.memory_of(series)
  if not memory then
    head.past = head.past + 1
    memory = { series = series, last = 0, ['until'] = 0, open = 0, ends = {} }
  end
  memory.last, memory['until'] = max(memory.last, number), max(memory['until'], head.clock + ttl)
  memory.open = max(memory.open + opened, 0)
  if cause then ledger.note(memory.ends, number, cause) end
  ledger.put_memory(memory)
end

function ledger.open(entry)
  ledger.raise(entry.ticket, entry.ttl, 1)
end

function ledger.close(entry, cause)
  ledger.raise(entry.ticket, entry.ttl, entry.fence and -1 or 0, cause)
end

function ledger.end_entry(entry, cause)
  ledger.leave(entry)
  if entry.fence or cause ~= 'expired' then
    ledger.close(entry, cause)
    ledger.wake(entry, 'ended ' .. entry.ticket .. ' ' .. cause)
  end
end

function ledger.end_lease(lease)
  while true do
    local entry = ledger.first_member(lease.id)
    -- Only damage leaves a lease without tickets.
    if not entry and ledger.lease_of(lease.id) then ledger.remove_lease(lease) end
    if not entry or not ledger.has_work() then return end
    ledger.end_entry(entry, 'expired')
  end
end

-- Time.

function ledger.expire_by_clock()
  local due = ledger.sorted(function(record)
    return record.lease and record.lease.ends <= head.clock and record.lease.ends
  end)
  for _, found in ipairs(due) do
    if not ledger.has_work() then return end
    ledger.end_lease(found[3].lease)
  end
end

-- If the client of a lease listens, only the ledger's clock can end the lease: the server's clock
-- may have jumped.
function ledger.expire_by_wall()
  local due = ledger.sorted(function(record)
    return record.lease and record.lease.ends_wall <= now and record.lease.ends_wall
  end)
  for _, found in ipairs(due) do
    local lease = found[3].lease
    if not ledger.has_work() then return end
    if lease.inbox and ledger.is_listening(lease.inbox) then
      lease.ends_wall = now + max(lease.ends - head.clock, 1)
      ledger.put_lease(lease)
    else
      ledger.end_lease(lease)
    end
  end
end

-- No time passes within a call, so only leases that were due when the call began are due.
function ledger.expire()
  if not ledger.is_due or head.holders + head.waiting == 0 then return end
  ledger.load_until(head.passed)
  ledger.expire_by_clock()
  ledger.expire_by_wall()
end

function ledger.forget()
  if head.past == 0 then return end
  local over = head.past - MOST_MEMORIES
  if ledger.is_due or over > 0 then
    ledger.load_until(head.passed, over > 0 and over + WORK or 0)
  end
  local due = ledger.sorted(function(record)
    local memory = record.memory
    return memory and memory.open == 0 and (memory['until'] <= head.clock or over > 0)
      and memory['until']
  end)
  for _, found in ipairs(due) do
    local memory = found[3].memory
    if memory['until'] > head.clock and head.past <= MOST_MEMORIES then return end
    if not ledger.has_work() then return end
    head.past = head.past - 1
    ledger.remove_memory(memory)
  end
end

-- The order of service.

function ledger.next_fence()
  head.fence = max(head.fence + 1, now)
  return head.fence
end

function ledger.hold(entry, slots)
  if head.held == 0 and head.top > 0 then
    -- All slots are free, so they become one range.
    head.top = 0
    ledger.clear_free_slots()
  end
  entry.slots = slots and ledger.take_these(slots) or ledger.take_slots(entry.permits)
  head.holders = head.holders + 1
  head.held = head.held + entry.permits
  entry.fence = ledger.next_fence()
end

function ledger.admits()
  return not head.paused and guarded_for == 0
end

function ledger.is_open()
  return ledger.admits() and head.waiting > 0 and head.held < ledger.limit_now()
end

function ledger.fits(permits)
  return permits <= ledger.limit_now() - head.held
end

function ledger.next_for(waiter)
  if waiter.permits > ledger.limit_now() then return 'end' end
  if waiter.inbox and not ledger.is_listening(waiter.inbox) then return 'park' end
  return ledger.fits(waiter.permits) and 'grant' or 'stop'
end

function ledger.park(entry)
  entry.parked = '1'
  ledger.put_entry(entry)
  local lease = ledger.lease_of(entry.lease)
  if lease then
    lease.parked = lease.parked + 1
    ledger.put_lease(lease)
  end
end

-- A lease that is made for a waiter ends no later than its place would have ended, because the
-- client has not been heard from since.
function ledger.grant_waiter(entry, slots)
  local place = ledger.lease_of(entry.lease)
  local ends, ends_wall = place.ends, place.ends_wall
  ledger.part(entry)
  head.waiting = head.waiting - 1
  entry.lease = entry.next_lease
  ledger.hold(entry, slots)
  entry.since = now
  local lease = ledger.join(entry, entry.ttl, entry.margin)
  if lease.members == 1 then
    lease.ends, lease.ends_wall = min(lease.ends, ends), min(lease.ends_wall, ends_wall)
    ledger.put_lease(lease)
  end
  ledger.put_entry(entry)
  ledger.open(entry)
  ledger.wake(entry,
    format('granted %s %d %s %d', entry.ticket, entry.fence, entry.slots, ledger.limit_now()))
end

function ledger.serve()
  if head.names and ledger.is_open() then return ledger.serve_named() end
  while ledger.is_open() do
    local waiter = ledger.first_waiter()
    if not waiter then return end
    local what = ledger.next_for(waiter)
    if what == 'stop' or not ledger.has_work() then return end
    if what == 'grant' then
      ledger.grant_waiter(waiter)
    elseif what == 'park' then
      ledger.park(waiter)
    else
      ledger.end_entry(waiter, 'toomany')
    end
  end
end

function ledger.settle()
  ledger.expire()
  ledger.serve()
end
