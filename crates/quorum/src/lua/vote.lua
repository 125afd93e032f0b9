-- Votes. A node votes for a ticket to hold slots, under a fence that the client chooses: the slots
-- that the client names, or the lowest free ones. The fences for which a node votes only grow.

-- take, mend and yield have the same arguments: SLOTS FENCE, and those of an acquire. SLOTS is
-- `any`, or slots. The limit is `-` for none, or R, A or E (refuse, adopt, exact) and a number.
local function parse_want(text)
  local slots, fence, ticket, kind, permits, limit, enqueue, priority, lease, ttl, margin,
    waiter_lease, waiter_ttl, not_after, about = match(text, '^(%S+) (%S+) (%S+) ([smr]) (%S+) (%S+)'
      .. ' (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  local rule, stated = match(limit or '', '^([RAE-])(%d*)$')
  local sign, steps = match(priority or '', '^(%-?)(%d+)$')
  if not rule or not sign then refuse('SEINPAALARGUMENT', 'a request cannot be read') end
  local want = {
    slots = slots ~= 'any' and slots_of(slots) or nil,
    fence = number(fence, 0, UNBOUNDED, 'the fence'),
    ticket = id_of(ticket, 'the ticket'),
    kind = kind,
    permits = number(permits, 1, MOST_PERMITS, 'permits'),
    rule = rule,
    stated = rule ~= '-' and number(stated, 0, MOST_PERMITS, 'the limit') or nil,
    enqueue = enqueue ~= 'no',
    most = match(enqueue, '%d') and number(enqueue, 0, MOST_COUNT, 'the most waiting')
      or MOST_COUNT,
    priority = number(steps, 0, 100, 'the priority') * (sign == '-' and -1 or 1),
    lease = id_of(lease, 'the lease'),
    ttl = ttl_of(ttl, 'ttl'),
    margin = number(margin, 0, UNBOUNDED, 'the margin'),
    waiter_lease = id_of(waiter_lease, 'the lease of the place'),
    waiter_ttl = ttl_of(waiter_ttl, 'the ttl of the place'),
    not_after = deadline_of(not_after),
    about = about_of(about),
  }
  if want.slots and slots_count(want.slots) == 0 then
    refuse('SEINPAALARGUMENT', 'a vote has slots')
  end
  return want
end

-- Gives FENCE:SLOTS of the votes, and + at the end if there are more. Without has_slots the slots
-- are left out.
local function votes_text(has_slots)
  local texts = {}
  for _, member in ipairs(listed('g', LISTED)) do
    local slots = has_slots and slots_text(row_of('t', member).slots) or ''
    texts[#texts + 1] = words(number_in(member)) .. ':' .. slots
  end
  if head.holders > LISTED then texts[#texts + 1] = '+' end
  return table.concat(texts, ' ')
end

-- If slots above a lowered limit are held, the answer has the slots of all votes, because the
-- client then adds up the grants that the nodes know.
local function took(ticket)
  local ranges = free_slots()
  local is_above = ranges[#ranges][1] > limit_now()
  return words('took', ticket.id, ticket.fence, slots_text(ticket.slots), limit_now(),
    left_of(ticket), votes_text(is_above))
end

local function not_voted(ticket, why, fence)
  return words('not', ticket, why, fence, limit_now(), head.held, head.waiting, guard_left, '')
end

-- Refuses a vote. A request that may wait takes its place, unless it will be proposed again at once
-- with a greater fence.
local function refuse_vote(want, waiter, why)
  if want.enqueue and why ~= 'fence' then
    if waiter then
      stand_again(waiter, want)
    elseif head.waiting < want.most then
      enqueue(want)
    else
      why = 'too-many-waiting'
    end
    if why ~= 'too-many-waiting' then keep_terms(want) end
  end
  return not_voted(want.ticket, why, head.fence) .. votes_text(true)
end

-- Votes for a ticket that may be waiting. Gives nothing if its slots are not free.
local function vote(want, waiter)
  local slots = want.slots or slots_lowest(free_slots(), want.permits)
  local rest, taken = slots_split(free_slots(), slots)
  if slots_count(taken) < slots_count(slots) then return nil end
  free = rest
  if waiter then
    part(waiter)
    remove(waiter)
    head.waiting = head.waiting - 1
  end
  local ticket = {
    kind = 't', id = want.ticket, lease = want.lease, inbox = me, permits = slots_count(slots),
    ttl = want.ttl, since = now, fence = want.fence, slots = slots, about = want.about,
  }
  head.holders, head.held = head.holders + 1, head.held + ticket.permits
  head.fence = max(head.fence, want.fence)
  join(ticket, want.ttl, want.margin)
  put(ticket)
  keep_terms(want)
  return took(ticket)
end

-- Compares with an earlier vote for the ticket: the same vote stands, a newer vote stays, and an
-- older vote makes way. Gives the answer if there is one.
local function compare_votes(want, ticket)
  local is_same = ticket.fence == want.fence
    and (not want.slots or slots_text(want.slots) == slots_text(ticket.slots))
  if is_same then return took(ticket) end
  if ticket.fence > want.fence then
    return words('not', want.ticket, 'stale', ticket.fence, 0, 0, 0, 0, '')
  end
  leave(ticket)
end

-- Gives why a ticket cannot have a vote, if it cannot.
local function why_not(want, waiter, limit)
  local room = limit - head.held
  if guard_left > 0 then return 'guarded' end
  if head.paused then return 'paused' end
  if want.permits > room then return 'full' end
  if not waiter and want.permits > room - wanted_by_waiters() then return 'late' end
  if want.fence <= head.fence then return 'fence' end
  if want.slots and want.slots[#want.slots][2] >= limit then return 'full' end
end

-- Gives the answer to a request that states another limit than the one in force, and must not use
-- that.
local function other_limit(want)
  local stored = head.pinned or head.stated
  local refuses = want.rule == 'E' or want.rule == 'R' and not head.pinned
  if refuses and stored and stored ~= want.stated then
    return words('other-limit', want.ticket, stored, want.stated, head.pinned and 1 or 0)
  end
end

-- take: asks for a vote.
local function take_line(text)
  local want = parse_want(text)
  local id = want.ticket
  if now > want.not_after then return words('too-late', id) end
  local ticket = get('t', id)
  local cause = not ticket and cause_of(id)
  if cause then return words('ended', id, cause) end
  if ticket and ticket.fence then
    -- Another client has attached to the ticket. A request of the client that had it must not take
    -- it back.
    if ticket.inbox ~= me then return words('ended', id, 'attached') end
    local answer = compare_votes(want, ticket)
    if answer then return answer end
    drop_terms()
    ticket = nil
  end
  if head.kind ~= '-' and head.kind ~= want.kind then
    return words('other-kind', id, head.kind, want.kind)
  end
  local refusal = other_limit(want)
  if refusal then return refusal end
  local limit = head.pinned or head.stated or want.stated or 1
  if want.permits > limit and limit > 0 then return words('too-many', id, want.permits, limit) end
  local why = why_not(want, ticket, limit)
  return not why and vote(want, ticket) or refuse_vote(want, ticket, why or 'full')
end

-- mend: writes down what a majority has voted for. It revives no ticket that this node knows to
-- have ended.
local function mend_line(text)
  local want = parse_want(text)
  local ticket = get('t', want.ticket)
  if not ticket and cause_of(want.ticket) then return words('cancelled', want.ticket) end
  if ticket and ticket.fence then
    local answer = compare_votes(want, ticket)
    if answer then return answer end
    ticket = nil
  end
  want.enqueue = false
  return vote(want, ticket) or refuse_vote(want, ticket, 'full')
end

-- yield: takes back a vote that was in vain. The ticket is not remembered, and may wait.
local function yield_line(text)
  local want = parse_want(text)
  local ticket, had_freed = get('t', want.ticket), has_freed
  if ticket and ticket.fence and ticket.fence <= want.fence then
    leave(ticket)
    -- A client that this vote kept out notices its own failure, so it needs no hint.
    has_freed = had_freed
    if want.enqueue then enqueue(want) end
  end
  return words('cancelled', want.ticket)
end
