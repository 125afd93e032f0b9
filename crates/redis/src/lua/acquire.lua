-- acquire: takes permits, joins the queue, or says how an earlier try went.
-- keys   records order
-- args   ticket kind permits limit enqueue priority lease ttl margin waiter_lease waiter_ttl
--        not_after about
-- reply  granted queued busy other-kind other-limit too-many too-late ended
-- cost   where the plain path gives up, HGET of head, entry, memory and lease, one HSET, one ZADD
--
-- kind: s, m or r (semaphore, mutex, readers-writer lock).
-- limit: `-` for none; or R, A, S or E (refuse, adopt, set, exact) and the number.
-- enqueue: no, yes, or how many may wait at most.

-- Puts the packed form (ASK) into words.
function ledger.acquire_text(line)
  local ticket, _, _, kind, permits, rule, limit, ttl, margin, not_after, most, priority,
    place_ttl, at = read(ASK, line, 9)
  local enqueue = most < 0 and 'no' or most == UNBOUNDED and 'yes' or format('%.0f', most)
  return format('%s %s %d %s %s %d %s %.0f %.0f %s %.0f %s ',
    ticket, kind, permits, rule == '-' and rule or rule .. format('%d', limit),
    enqueue, priority, sub(line, at, at + 31), ttl, margin, sub(line, at + 32, at + 63), place_ttl,
    not_after == UNBOUNDED and '-' or format('%.0f', not_after)) .. sub(line, at + 64)
end

function ledger.parse_acquire(text)
  local ticket, kind, permits, limit, enqueue, priority, lease, ttl, margin, waiter_lease,
    waiter_ttl, not_after, about =
    match(text, '^(%S+) ([smr]) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  local rule = limit and sub(limit, 1, 1)
  if not rule or not string.find('-RASE', rule, 1, true) then
    ledger.refuse('SEINPAALARGUMENT', 'acquire cannot be read')
  end
  if #about > MOST_ABOUT then ledger.refuse('SEINPAALARGUMENT', 'about is too long') end
  return {
    ticket = ledger.id(ticket, 'the ticket'),
    kind = kind,
    permits = ledger.permits_of(permits, 1, 'permits'),
    rule = rule,
    stated = rule ~= '-' and ledger.permits_of(sub(limit, 2), 0, 'the limit') or nil,
    enqueue = enqueue ~= 'no',
    most = match(enqueue, '%d') and ledger.number(enqueue, 0, MOST_WAITING, 'the most waiting'),
    priority = ledger.number(priority, -100, 100, 'the priority'),
    lease = ledger.id(lease, 'the lease'),
    ttl = ledger.ttl_of(ttl, 'ttl'),
    margin = ledger.number(margin, 0, UNBOUNDED, 'the margin'),
    waiter_lease = ledger.id(waiter_lease, 'the waiter\'s lease'),
    waiter_ttl = ledger.ttl_of(waiter_ttl, 'the waiter\'s ttl'),
    not_after = not_after ~= '-' and ledger.number(not_after, 0, UNBOUNDED, 'not-after') or nil,
    about = about,
  }
end

-- Says how the ticket stands now. A wakeup about it would only repeat this reply, so it is dropped.
function ledger.standing_of(ticket)
  for i = #ledger.wakeups, 1, -1 do
    if ledger.wakeups[i].ticket == ticket then table.remove(ledger.wakeups, i) end
  end
  local entry = ledger.entry_of(ticket)
  if not entry then return 'ended ' .. ticket .. ' ' .. (ledger.cause_of(ticket) or 'expired') end
  return ledger.told(entry)
end

-- Gives the reply about a ticket that holds or waits.
function ledger.told(entry)
  if not entry.fence then
    return format('queued %s %d %d', entry.ticket, head.waiting, ledger.limit_now())
  end
  local lease = ledger.lease_of(entry.lease)
  local left = max((lease and lease.ends or 0) - head.clock, 0)
  return format('granted %s %d %s %d %d', entry.ticket, entry.fence, ledger.slots_told(entry.slots),
    ledger.limit_now(), left)
end

-- Puts a waiter under the lease of its place and renews that.
function ledger.stand_in_line(entry, want)
  local lease = ledger.join(entry, want.waiter_ttl, min(want.margin, floor(want.waiter_ttl / 2)))
  lease.ends = head.clock + want.waiter_ttl
  lease.ends_wall = now + want.waiter_ttl
  -- The lease may have been made with another ttl.
  head.longest = max(head.longest, want.waiter_ttl)
  ledger.put_lease(lease)
end

function ledger.new_entry(want, lease)
  return {
    ticket = want.ticket, lease = lease, inbox = ledger.me, permits = want.permits,
    ttl = want.ttl, since = now, about = want.about,
  }
end

-- Answers an acquire that was sent before. A waiter that is heard from again keeps its rank, and if
-- it was parked it comes back into the order of service.
function ledger.look(entry, want)
  if entry.fence and entry.inbox ~= ledger.me then return 'ended ' .. want.ticket .. ' attached' end
  if not entry.fence then
    ledger.part(entry)
    entry.lease, entry.inbox, entry.parked = want.waiter_lease, ledger.me, '0'
    ledger.put_entry(entry)
    ledger.stand_in_line(entry, want)
    ledger.serve()
  end
  return ledger.standing_of(want.ticket)
end

-- Gives the limit that this request states anew, if it may. Otherwise it gives nothing and, if
-- there is one, the refusal.
function ledger.stating(want)
  if want.rule == '-' then return nil end
  local stored = head.pinned or head.stated
  local refuses = want.rule == 'E' or (want.rule == 'R' and not head.pinned)
  if refuses and stored and stored ~= want.stated then
    return nil,
      format('other-limit %s %d %d %d', want.ticket, stored, want.stated, head.pinned and 1 or 0)
  end
  return (want.rule == 'S' or not head.stated) and want.stated or nil
end

-- An implied limit is stored like a stated one, unless a limit is pinned.
function ledger.store_terms(want, stating, limit)
  head.kind = want.kind
  if stating then head.stated = stating elseif not head.pinned then head.stated = limit end
end

-- A newcomer never passes a waiter that could be served.
function ledger.is_free_for(permits, limit)
  if permits > limit - head.held or not ledger.admits() then return false end
  return head.waiting == 0 or not ledger.first_waiter()
end

function ledger.refusal(want)
  if not want.enqueue then
    return head.paused and 'paused' or guarded_for > 0 and 'guarded' or 'full'
  end
  return want.most and head.waiting >= want.most and 'too-many-waiting'
end

function ledger.grant_at_once(want, slots)
  local entry = ledger.new_entry(want, want.lease)
  ledger.hold(entry, slots)
  ledger.join(entry, want.ttl, want.margin)
  ledger.put_entry(entry)
  ledger.open(entry)
  return ledger.standing_of(want.ticket)
end

-- Puts a newcomer in line. Its rank is its arrival less ten seconds for each step of priority, so
-- nobody waits for ever.
function ledger.enqueue(want, wishes)
  local entry = ledger.new_entry(want, want.waiter_lease)
  head.arrival = max(head.arrival + 1, head.clock)
  entry.rank, entry.priority = head.arrival - want.priority * 10000000, want.priority
  entry.next_lease, entry.margin, entry.parked = want.lease, want.margin, '0'
  entry.wishes = ledger.wishes_text(wishes)
  head.waiting = head.waiting + 1
  ledger.put_entry(entry)
  head.longest = max(head.longest, want.ttl)
  ledger.stand_in_line(entry, want)
  ledger.serve()
  return ledger.standing_of(want.ticket)
end

function ledger.want(want)
  ledger.drop_terms()
  if head.kind ~= '-' and head.kind ~= want.kind then
    return format('other-kind %s %s %s', want.ticket, head.kind, want.kind)
  end
  local stating, refusal = ledger.stating(want)
  if refusal then return refusal end
  local limit = head.pinned or stating or ledger.limit_now()
  if want.permits > limit and limit > 0 then
    return format('too-many %s %d %d', want.ticket, want.permits, limit)
  end
  local wishes, refused = ledger.wishes_of(want)
  if refused then return refused end
  if want.rule == 'S' or ledger.limit_now() ~= limit then
    head.stated = stating
    ledger.serve()
  end
  local slots = head.names and ledger.left_by_the_line(want.permits, wishes)
  if slots or not head.names and ledger.is_free_for(want.permits, limit) then
    ledger.store_terms(want, stating, limit)
    return ledger.grant_at_once(want, slots)
  end
  local why = ledger.refusal(want)
  if why then
    return format('busy %s %s %d %d %d', want.ticket, why, limit, head.held, head.waiting)
  end
  ledger.store_terms(want, stating, limit)
  return ledger.enqueue(want, wishes)
end

function ledger.acquire(want)
  if want.not_after and now > want.not_after then return 'too-late ' .. want.ticket end
  local entry = ledger.entry_of(want.ticket)
  if entry then return ledger.look(entry, want) end
  local cause = ledger.cause_of(want.ticket)
  if cause then return 'ended ' .. want.ticket .. ' ' .. cause end
  return ledger.want(want)
end

ledger.operations.acquire = function(text)
  local want = ledger.parse_acquire(text)
  return function() return ledger.acquire(want) end
end

-- A wish is an acquire behind the names of slots that must be among those that it gets.
ledger.operations.wish = function(text)
  local wishes, rest = match(text, '^([^ ;:]+) acquire (.*)$')
  if not wishes then ledger.refuse('SEINPAALARGUMENT', 'wish cannot be read') end
  local want = ledger.parse_acquire(rest)
  want.wishes = wishes
  return function() return ledger.acquire(want) end
end
