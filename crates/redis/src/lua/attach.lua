-- attach: hands a ticket to the client that attaches to it, or leaves it without a client (detach).
-- keys   records order
-- args   attach: ticket lease ttl margin not_after about; detach: ticket fence ttl margin
-- reply  attach: granted too-late ended unknown; detach: renewed ended unknown
-- cost   HGET of head, entry, leases and memory, one HSET, ZREM and ZADD, one PUBLISH to the old
--        holder

-- Gives the entry of a ticket that holds. For any other ticket gives nothing, and the reply about
-- it.
function ledger.held_entry(ticket)
  local entry = ledger.entry_of(ticket)
  if entry and entry.fence then return entry end
  local cause = not entry and ledger.cause_of(ticket)
  return nil, cause and 'ended ' .. ticket .. ' ' .. cause or 'unknown ' .. ticket
end

-- Remembers the attach as spent, so that a late copy of it cannot take the ticket back from a later
-- attach.
function ledger.spend(want)
  if not ledger.entry_of(want.lease) then ledger.raise(want.lease, want.ttl, 0, 'attached') end
end

-- An attach is a grant of its own. It ends the earlier grant, and tells that grant's holder.
function ledger.hand_over(entry, want, fence)
  local before = { ticket = entry.ticket, inbox = entry.inbox }
  ledger.part(entry)
  ledger.spend(want)
  entry.lease, entry.inbox, entry.ttl, entry.since, entry.about =
    want.lease, ledger.me, want.ttl, now, want.about
  entry.fence = fence or ledger.next_fence()
  ledger.join(entry, want.ttl, want.margin)
  ledger.put_entry(entry)
  if before.inbox ~= ledger.me then ledger.wake(before, 'ended ' .. entry.ticket .. ' attached') end
end

-- Gives nothing if the ticket may be handed over or already belongs to the asker, and otherwise the
-- refusal.
function ledger.attach_refusal(entry, want)
  if entry.lease == want.lease and entry.inbox == ledger.me then return nil end
  local spent = ledger.cause_of(want.lease)
  return spent and 'ended ' .. want.ticket .. ' ' .. spent
end

function ledger.attach(want)
  if want.not_after and now > want.not_after then return 'too-late ' .. want.ticket end
  local entry, refusal = ledger.held_entry(want.ticket)
  refusal = refusal or ledger.attach_refusal(entry, want)
  if refusal then return refusal end
  local is_same = entry.lease == want.lease and entry.inbox == ledger.me
  if not is_same then ledger.hand_over(entry, want) end
  return ledger.told(entry)
end

-- Each attach is a grant of its own. A late copy of this request changes nothing once a client has
-- attached, even if that client is the sender itself.
function ledger.detach(ticket, fence, renew)
  local entry, refusal = ledger.held_entry(ticket)
  if refusal then return refusal end
  if entry.fence > fence or (entry.inbox and entry.inbox ~= ledger.me) then
    return 'ended ' .. ticket .. ' attached'
  end
  ledger.move_under(entry, renew, nil)
  local lease = ledger.lease_of(ticket)
  if lease then ledger.extend(lease, renew, nil) end
  return format('renewed %d', renew.ttl)
end

function ledger.parse_attach(text)
  local ticket, lease, ttl, margin, not_after, about =
    match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  if not ticket or #about > MOST_ABOUT then
    ledger.refuse('SEINPAALARGUMENT', 'attach cannot be read')
  end
  return {
    ticket = ledger.id(ticket, 'the ticket'),
    lease = ledger.id(lease, 'the lease'),
    ttl = ledger.ttl_of(ttl, 'ttl'),
    margin = ledger.number(margin, 0, UNBOUNDED, 'the margin'),
    not_after = not_after ~= '-' and ledger.number(not_after, 0, UNBOUNDED, 'not-after') or nil,
    about = about,
  }
end

ledger.operations.attach = function(text)
  local want = ledger.parse_attach(text)
  return function() return ledger.attach(want) end
end

ledger.operations.detach = function(text)
  local ticket, fence, ttl, margin = match(text, '^(%S+) (%S+) (%S+) (%S+)$')
  fence = ledger.number(fence, 0, UNBOUNDED, 'the fence')
  local renew = {
    lease = ledger.id(ticket, 'the ticket'),
    ttl = ledger.ttl_of(ttl, 'ttl'),
    margin = ledger.number(margin, 0, UNBOUNDED, 'the margin'),
  }
  return function() return ledger.detach(ticket, fence, renew) end
end
