-- renew: extend a lease, if both sides agree on what stands under it, or by ticket.
-- keys   records order
-- args   lease ttl margin whom
-- reply  renewed differs gone tickets
-- cost   everything under a lease: one HGET, one HSET, one ZREM, one ZADD; by ticket: one HGET each
--
-- whom: all MEMBERS DIGEST, or tickets TICKET...

local function extend(lease, renew)
  lease.inbox = asker ~= '' and asker or nil
  lease.ttl = renew.ttl
  lease.ends = head.clock + renew.ttl
  lease.ends_wall = now + renew.ttl
  head.bound = min(head.bound, renew.margin)
  put_lease(lease)
end

local function renew_all(renew, members, digest)
  local lease = lease_of(renew.lease)
  if not lease then return 'gone' end
  if lease.members ~= members or lease.digest ~= digest or lease.parked ~= 0 then return 'differs' end
  extend(lease, renew)
  return format('renewed %d', renew.ttl)
end

local function move_under(entry, renew)
  local inbox = asker ~= '' and asker or nil
  if entry.lease == renew.lease and entry.inbox == inbox then return end
  part(entry)
  entry.lease, entry.inbox = renew.lease, inbox
  join(entry, renew.ttl, renew.margin)
  put_entry(entry)
end

local function renew_ticket(ticket, renew)
  local entry = entry_of(ticket)
  if not entry then return cause_of(ticket) or 'unknown' end
  if not entry.fence then return 'waiting' end
  move_under(entry, renew)
  renew.holds = true
  return format('held:%d:%s', entry.fence, entry.slots)
end

local function renew_tickets(renew, tickets)
  local found = {}
  for i, ticket in ipairs(tickets) do found[i] = renew_ticket(ticket, renew) end
  local lease = renew.holds and lease_of(renew.lease)
  if lease then extend(lease, renew) end
  return format('tickets %d ', renew.ttl) .. table.concat(found, ' ')
end

local function parse_tickets(text)
  local tickets = {}
  for ticket in string.gmatch(text, '%S+') do tickets[#tickets + 1] = id(ticket, 'a ticket') end
  if #tickets > 500 then refuse('SEINPAALARGUMENT', 'more than 500 tickets') end
  return tickets
end

operations.renew = function(text)
  local lease, ttl, margin, whom, rest = match(text, '^(%S+) (%S+) (%S+) (%a+)(.*)$')
  local renew = {
    lease = id(lease, 'the lease'), ttl = ttl_of(ttl, 'ttl'), margin = number(margin, 0, UNBOUNDED, 'the margin'),
  }
  if whom == 'tickets' then
    local tickets = parse_tickets(rest)
    return function() return renew_tickets(renew, tickets) end
  end
  local members, digest = match(rest, '^ (%S+) (%S+)$')
  if whom ~= 'all' then refuse('SEINPAALARGUMENT', 'renew cannot be read') end
  members, digest = number(members, 0, 4294967295, 'members'), number(digest, 0, DIGESTS - 1, 'the digest')
  return function() return renew_all(renew, members, digest) end
end
