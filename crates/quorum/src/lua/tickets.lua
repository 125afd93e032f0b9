-- What happens to tickets that have votes or wait: renewal, release, eviction, and change of hands.

-- Renewing.

-- Renews all tickets under a lease, if the client and this node agree on which these are.
local function renew_lease(lease, renew, members, digest)
  if not lease then return 'gone' end
  if lease.members ~= members or lease.digest ~= digest or lease.parked ~= 0 or lease.inbox ~= me then
    return 'differs'
  end
  extend(lease, renew.ttl, renew.margin, me)
  return words('renewed', renew.ttl)
end

-- The clock's bound that a lease of this ttl needs.
local function margin_of(ttl)
  return min(1000000, floor(ttl / 4))
end

-- Renews a ticket under the lease of the request, with a ttl of 0 by the ttl with which it was acquired. An operator changes nothing, and learns for how
-- long the ticket is kept.
local function renew_ticket(id, renew)
  local ticket = get('t', id)
  if not ticket then return cause_of(id) or 'unknown' end
  if not ticket.fence then return 'waiting' end
  if ticket.inbox == me then
    local ttl, margin = renew.ttl, renew.margin
    if ttl == 0 then ttl, margin = ticket.ttl, margin_of(ticket.ttl) end
    renew.own, renew.is_extended = max(renew.own, ticket.ttl), true
    move_under(ticket, renew.lease, ttl, margin, me)
  elseif me then
    return 'attached'
  else
    renew.left = min(renew.left, left_of(ticket))
  end
  return 'held:' .. words(ticket.fence) .. ':' .. slots_text(ticket.slots)
end

-- renew LEASE TTL MARGIN, and then `all MEMBERS DIGEST` or `tickets TICKET...`
local function renew_line(text)
  local id, ttl, margin, whom, rest = match(text, '^(%S+) (%S+) (%S+) (%a+)(.*)$')
  local renew = {
    lease = id_of(id, 'the lease'), ttl = ttl == '0' and 0 or ttl_of(ttl, 'ttl'),
    margin = number(margin, 0, UNBOUNDED, 'the margin'), left = UNBOUNDED, own = 0,
  }
  local members, digest = match(rest, '^ (%S+) (%S+)$')
  if whom == 'all' then
    return renew_lease(get('l', id), renew, number(members, 0, MOST_COUNT, 'members'),
      number(digest, 0, DIGESTS, 'the digest'))
  end
  local found = {}
  for ticket in string.gmatch(rest, '%S+') do
    found[#found + 1] = renew_ticket(id_of(ticket, 'a ticket'), renew)
  end
  if whom ~= 'tickets' or #found > MOST_TICKETS then
    refuse('SEINPAALARGUMENT', 'renew cannot be read')
  end
  if renew.is_extended then
    local lease = lease_of(id)
    if renew.ttl == 0 then
      renew.ttl, renew.margin = max(renew.own, lease.ends - head.clock), margin_of(renew.own)
    end
    extend(lease, renew.ttl, renew.margin, me)
  end
  if renew.is_extended or renew.left == UNBOUNDED then renew.left = min(renew.left, renew.ttl) end
  return words('tickets', renew.left, table.concat(found, ' '))
end

-- Giving back.

-- Gives the code of the length of a hold: the three highest bits of the length (`RecentHolds` in
-- crates/proto).
local function code_of_hold(length)
  local code, power = 1, 256
  if length < power then return code end
  while length >= 2 * power do code, power = code + 4, 2 * power end
  return min(code + floor(4 * length / power) - 4, 127)
end

-- Ends a ticket at the wish of a client, and tells another client that has it.
local function give_back(ticket, cause)
  if cause == 'released' and ticket.fence then
    -- Seven codes of seven bits, the newest in the lowest.
    head.recent = head.recent % 2 ^ 42 * 128 + code_of_hold(now - ticket.since)
  end
  leave(ticket)
  remember(ticket.id, ticket.ttl, cause)
  if ticket.inbox ~= me then wake(ticket.inbox, words('ended', ticket.id, cause)) end
end

-- A client may end its own votes and any waiter. An operator may end any ticket.
local function may_end(ticket)
  return not ticket.fence or not me or ticket.inbox == me
end

local function missing(id)
  local cause = cause_of(id)
  return cause and words('ended', id, cause) or words('unknown', id)
end

-- release TICKET SLOTS: gives back `all`, or some slots.
local function release_line(text)
  local id, some = match(text, '^(%S+) (%S+)$')
  local ticket = get('t', id_of(id, 'the ticket'))
  if some ~= 'all' then some = slots_of(some) end
  if not ticket then return missing(id) end
  if not may_end(ticket) then return words('ended', id, 'attached') end
  local kept, given = {}, {}
  if some ~= 'all' and ticket.fence and ticket.inbox == me then
    kept, given = slots_split(ticket.slots, some)
  end
  if #kept == 0 then
    give_back(ticket, 'released')
    return words('released', id, 0)
  end
  ticket.slots, ticket.permits = kept, slots_count(kept)
  put(ticket)
  give_slots(given)
  return words('released', id, ticket.permits)
end

-- cancel TICKET REMEMBER ATTACH: gives a ticket up in any state, and refuses it for a while if it
-- comes later. ATTACH is `-`, or the lease of an attach that is given up. Then the ticket is given
-- up only if the attach was executed.
local function cancel_line(text)
  local id, time, attach = match(text, '^(%S+) (%S+) (%S+)$')
  local ticket = get('t', id_of(id, 'the ticket'))
  time = number(time, 0, MAX_TTL, 'the time to remember')
  local refused = attach == '-' and id or id_of(attach, 'the lease')
  if ticket and may_end(ticket) and (attach == '-' or ticket.lease == attach) then
    give_back(ticket, 'cancelled')
  elseif not get('t', refused) then
    remember(refused, time, cause_of(refused) or 'cancelled')
  end
  return words('cancelled', id)
end

-- evict TICKET: ends it, and tells its client.
local function evict_line(text)
  local ticket = get('t', id_of(text, 'the ticket'))
  if ticket then end_ticket(ticket, 'evicted') end
  return words(cause_of(text) == 'evicted' and 'evicted' or 'unknown', text)
end

-- Changing hands.

-- attach FENCE TICKET LEASE TTL MARGIN NOT_AFTER ABOUT: gives the vote to the client that asks,
-- under its fence. The slots stay those for which this node has voted. An attach is a grant of its
-- own: it ends the one before it, and its lease is spent.
local function attach_line(text)
  local fence, id, lease, ttl, margin, not_after, about =
    match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  fence, ttl = number(fence, 0, UNBOUNDED, 'the fence'), ttl_of(ttl, 'ttl')
  margin = number(margin, 0, UNBOUNDED, 'the margin')
  id_of(id, 'the ticket')
  id_of(lease, 'the lease')
  about_of(about)
  if now > deadline_of(not_after) then return words('too-late', id) end
  local ticket = get('t', id)
  if not ticket or not ticket.fence then return missing(id) end
  local is_again = ticket.lease == lease and ticket.inbox == me
  local spent = not is_again and cause_of(lease)
  if spent then return words('ended', id, spent) end
  if is_again and ticket.fence == fence then return took(ticket) end
  if fence <= head.fence then return not_voted(id, 'fence', head.fence) end
  head.fence, ticket.fence = fence, fence
  if is_again then
    put(ticket)
    return took(ticket)
  end
  if ticket.inbox ~= me then wake(ticket.inbox, words('ended', id, 'attached')) end
  remember(lease, ttl, 'attached')
  ticket.ttl, ticket.since, ticket.about = ttl, now, about
  move_under(ticket, lease, ttl, margin, me)
  return took(ticket)
end

-- detach TICKET FENCE TTL MARGIN: leaves a vote without a client, under a lease of its own. A late
-- copy of this request changes nothing once a client has attached, even if that client is the
-- sender itself.
local function detach_line(text)
  local id, fence, ttl, margin = match(text, '^(%S+) (%S+) (%S+) (%S+)$')
  local ticket = get('t', id_of(id, 'the ticket'))
  fence, ttl = number(fence, 0, UNBOUNDED, 'the fence'), ttl_of(ttl, 'ttl')
  margin = number(margin, 0, UNBOUNDED, 'the margin')
  if not ticket or not ticket.fence then return missing(id) end
  if ticket.fence > fence or ticket.inbox and ticket.inbox ~= me then
    return words('ended', id, 'attached')
  end
  move_under(ticket, id, ttl, margin, nil)
  extend(lease_of(id), ttl, margin, nil)
  return words('renewed', ttl)
end
