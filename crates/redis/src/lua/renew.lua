-- renew: extends a lease if client and server agree on its tickets, or extends it ticket by ticket.
-- keys   records order
-- args   lease ttl margin whom
-- reply  renewed differs gone tickets
-- cost   for a whole lease one HGET, HSET, ZREM and ZADD; by ticket one HGET each
--
-- whom: `all MEMBERS DIGEST`, or `tickets TICKET...`.

function ledger.extend(lease, renew, inbox)
  lease.inbox = inbox
  lease.ttl = renew.ttl
  lease.ends = head.clock + renew.ttl
  lease.ends_wall = now + renew.ttl
  head.bound = min(head.bound, renew.margin)
  ledger.put_lease(lease)
end

function ledger.renew_all(renew, members, digest)
  local lease = ledger.lease_of(renew.lease)
  if not lease then return 'gone' end
  if lease.members ~= members or lease.digest ~= digest or lease.parked ~= 0 then
    return 'differs'
  end
  ledger.extend(lease, renew, ledger.me)
  return format('renewed %d', renew.ttl)
end

function ledger.move_under(entry, renew, inbox)
  if entry.lease == renew.lease and entry.inbox == inbox then return end
  ledger.part(entry)
  entry.lease, entry.inbox = renew.lease, inbox
  ledger.join(entry, renew.ttl, renew.margin)
  ledger.put_entry(entry)
end

function ledger.renew_ticket(ticket, renew)
  local entry = ledger.entry_of(ticket)
  if not entry then return ledger.cause_of(ticket) or 'unknown' end
  if not entry.fence then return 'waiting' end
  if entry.inbox == ledger.me then
    ledger.move_under(entry, renew, ledger.me)
    renew.holds = true
  elseif ledger.me then
    return 'attached'
  else
    -- Another client keeps the lease and renews it at its own pace, so the asker only learns how
    -- long the lease still lasts.
    local lease = ledger.lease_of(entry.lease)
    renew.kept = min(renew.kept or UNBOUNDED, max((lease and lease.ends or 0) - head.clock, 0))
  end
  return format('held:%d:%s', entry.fence, ledger.slots_told(entry.slots))
end

function ledger.renew_tickets(renew, tickets)
  local found = {}
  for i, ticket in ipairs(tickets) do found[i] = ledger.renew_ticket(ticket, renew) end
  local lease = renew.holds and ledger.lease_of(renew.lease)
  if lease then ledger.extend(lease, renew, ledger.me) end
  local left = renew.kept and min(renew.kept, renew.holds and renew.ttl or UNBOUNDED) or renew.ttl
  return format('tickets %d ', left) .. table.concat(found, ' ')
end

function ledger.parse_tickets(text)
  local tickets = {}
  for ticket in string.gmatch(text, '%S+') do
    tickets[#tickets + 1] = ledger.id(ticket, 'a ticket')
  end
  if #tickets > 500 then ledger.refuse('SEINPAALARGUMENT', 'more than 500 tickets') end
  return tickets
end

ledger.operations.renew = function(text)
  local lease, ttl, margin, whom, rest = match(text, '^(%S+) (%S+) (%S+) (%a+)(.*)$')
  local renew = {
    lease = ledger.id(lease, 'the lease'),
    ttl = ledger.ttl_of(ttl, 'ttl'),
    margin = ledger.number(margin, 0, UNBOUNDED, 'the margin'),
  }
  if whom == 'tickets' then
    local tickets = ledger.parse_tickets(rest)
    return function() return ledger.renew_tickets(renew, tickets) end
  end
  local members, digest = match(rest, '^ (%S+) (%S+)$')
  if whom ~= 'all' then ledger.refuse('SEINPAALARGUMENT', 'renew cannot be read') end
  members, digest = ledger.number(members, 0, 4294967295, 'members'),
    ledger.number(digest, 0, DIGESTS - 1, 'the digest')
  return function() return ledger.renew_all(renew, members, digest) end
end
