-- Time, leases, and the ends of tickets.

-- The most tickets, leases and memories that one call ends. What is left over is the backlog.
local WORK = 128
-- The most tickets that a name remembers.
local MOST_PAST = 65536
local DIGESTS = 2 ^ 48

local work, has_backlog = WORK, false
-- The messages to send when everything is written: an inbox and a text each.
local wakeups = {}

local function has_work()
  if work == 0 then
    has_backlog = true
    return false
  end
  work = work - 1
  return true
end

local function wake(inbox, text)
  if inbox then wakeups[#wakeups + 1] = { inbox, text } end
end

local function channel_of(inbox)
  return match(records, '^[^{]*') .. 'inbox:' .. inbox
end

-- Tells whether a client listens. The client that asks is there, even if it does not listen yet. A
-- user may lack the right to ask; then every client counts as there.
local listens = {}
local function is_listening(inbox)
  if inbox == me then return true end
  if listens[inbox] == nil then
    local told = try('pubsub', 'numsub', channel_of(inbox))
    listens[inbox] = told.err ~= nil or told[2] > 0
  end
  return listens[inbox]
end

-- The ledger's clock advances by at most the bound in a call. So a node's clock that jumps forward
-- ends no lease whose holder is alive, and one that jumps back delays nothing.
local function advance_clock()
  local passed = max(now - head.wall, 0)
  head.wall, head.clock = now, head.clock + min(passed, head.bound)
end

-- Standing under leases.

-- A renewal of a whole lease carries the sum of these numbers over its tickets (`Ticket::digest` in
-- crates/proto).
local function digest_of(ticket)
  local mixed = (tonumber(sub(ticket, 25), 16) * 69069 + tonumber(sub(ticket, 19, 24), 16)) % 2 ^ 24
  return mixed * (mixed * mixed % 2 ^ 24)
end

-- Makes a lease last for this long on both clocks. From now on the ledger's clock advances by no
-- more than the margin in a call.
local function prolong(lease, ttl, margin)
  lease.ends, lease.ends_wall = head.clock + ttl, now + ttl
  head.bound, head.longest = min(head.bound, margin), max(head.longest, ttl)
  put(lease)
end

-- Puts a ticket under its lease, which then lasts for this long at least.
local function join(ticket, ttl, margin)
  local lease = get('l', ticket.lease) or {
    kind = 'l', id = ticket.lease, inbox = ticket.inbox, ends = 0, members = 0, digest = 0,
    parked = 0,
  }
  lease.members = lease.members + 1
  lease.digest = (lease.digest + digest_of(ticket.id)) % DIGESTS
  prolong(lease, max(ttl, lease.ends - head.clock), margin)
end

local function part(ticket)
  local lease = get('l', ticket.lease)
  -- Only damage leaves a ticket without its lease.
  if not lease then return end
  lease.members = lease.members - 1
  lease.digest = (lease.digest - digest_of(ticket.id)) % DIGESTS
  if ticket.is_parked then lease.parked = lease.parked - 1 end
  if lease.members > 0 then put(lease) else remove(lease) end
end

-- Gives the lease under which a ticket stands.
local function lease_of(id)
  return get('l', id) or corrupt('the lease ' .. id .. ' is gone')
end

-- Makes a lease that of this client, and makes it last for exactly this long.
local function extend(lease, ttl, margin, inbox)
  lease.inbox = inbox
  prolong(lease, ttl, margin)
end

-- Puts a ticket under another lease, or gives it to another client.
local function move_under(ticket, lease, ttl, margin, inbox)
  if ticket.lease == lease and ticket.inbox == inbox then return end
  part(ticket)
  ticket.lease, ticket.inbox = lease, inbox
  join(ticket, ttl, margin)
  put(ticket)
end

-- Gives for how long the lease of a ticket still lasts.
local function left_of(ticket)
  local lease = get('l', ticket.lease)
  return lease and max(lease.ends - head.clock, 0) or 0
end

-- Memory. A node remembers each ticket by itself, and not by series: a vote that was taken back may
-- come again when a later ticket of its series has already ended, and other nodes may receive the
-- two in another order.

local function cause_of(id)
  local ended = get('e', id)
  return ended and ended.cause
end

-- Makes sure that nothing is granted to a ticket, or to an attach with this lease, for this long.
local function remember(id, time, cause)
  local ended = get('e', id)
  if not ended then
    ended = { kind = 'e', id = id, till = 0 }
    head.past = head.past + 1
  end
  ended.till, ended.cause = max(ended.till, head.clock + time), cause
  head.memory = max(head.memory, ended.till)
  put(ended)
end

-- Forgets what is over, and the oldest of too many.
local function forget()
  for _, member in ipairs(listed('e', work + 1)) do
    if number_in(member) > head.clock and head.past <= MOST_PAST then break end
    if not has_work() then return end
    remove(row_of('e', member))
    head.past = head.past - 1
  end
  if head.past == 0 then head.memory = 0 end
end

-- Ends of tickets.

local function leave(ticket)
  remove(ticket)
  part(ticket)
  if ticket.fence then
    head.holders = head.holders - 1
    give_slots(ticket.slots)
  else
    -- Waiters behind it may fit now.
    head.waiting, has_freed = head.waiting - 1, true
  end
end

-- Ends a ticket, and tells its client. A waiter whose time is over may come again.
local function end_ticket(ticket, cause)
  leave(ticket)
  if ticket.fence or cause ~= 'expired' then
    remember(ticket.id, ticket.ttl, cause)
    wake(ticket.inbox, words('ended', ticket.id, cause))
  end
end

local function end_lease(lease)
  local members = listed('m' .. lease.id, work + 1)
  -- Only damage leaves a lease without tickets.
  if #members == 0 then remove(lease) end
  for _, member in ipairs(members) do
    if not has_work() then return end
    end_ticket(row_of('t', member), 'expired')
  end
end

-- Ends the leases that have run out. A lease whose client listens ends by the ledger's clock alone,
-- because the node's clock may have jumped.
local function expire()
  for _, member in ipairs(listed('c', work + 1)) do
    if number_in(member) > head.clock then break end
    if not has_work() then return end
    end_lease(row_of('l', member))
  end
  for _, member in ipairs(listed('d', work + 1)) do
    if number_in(member) > now then break end
    if not has_work() then return end
    local lease = row_of('l', member)
    if lease.inbox and is_listening(lease.inbox) then
      lease.ends_wall = now + max(lease.ends - head.clock, 1)
      put(lease)
    else
      end_lease(lease)
    end
  end
end
