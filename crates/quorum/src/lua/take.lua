-- take: has a node vote for a ticket to hold slots, under a fence that the client chooses: the
--   slots that the client names, or the lowest free ones.
-- keys   records order marker
-- args   take, mend: slots fence and those of acquire; yield: fence and those of acquire; attach:
--        fence and its own
-- reply  took not ended too-late other-kind other-limit too-many unknown
-- cost   HGET of head, entry, memory and lease, one HSET, one ZADD; to refuse, one HGET for each of
--        at most 64 holders, too
--
-- slots: any, or text like 0-2,5. A vote is a holder's entry like any other: it expires, and it is
-- renewed, released and evicted as other entries are. The fences for which a node votes only grow.
--
-- mend writes down what a majority has voted for. yield takes back a vote that was in vain.

local LISTED = 64

function ledger.free_ranges()
  local ranges = head.free
  head.free = {}
  if head.spread then
    ledger.flush()
    for _, member in ipairs(call('zrangebylex', order, '[f', '(g')) do
      local _, first_slot, last_slot = read(FREE, member)
      ranges[#ranges + 1] = { first_slot, last_slot }
      ledger.placed[member] = false
    end
    ledger.is_dirty = true
  end
  return ranges
end

-- Takes these slots, or gives false if one of them is not free. It writes every free range anew.
function ledger.take_given(slots)
  local free, last = ledger.free_ranges(), slots[#slots][2]
  local top = max(head.top, last + 1)
  if head.top < top then free[#free + 1] = { head.top, top - 1 } end
  local kept, taken = ledger.slots_take(free, slots)
  if ledger.slots_count(taken) < ledger.slots_count(slots) then
    kept, taken, top = free, false, head.top
    if free[#free] and free[#free][1] >= top then free[#free] = nil end
  end
  head.top = top
  for _, range in ipairs(kept) do ledger.push_free_slots(range[1], range[2]) end
  return taken and ledger.slots_text(taken)
end

-- Gives FENCE:SLOTS of every holder, with + at the end if there are more. Without has_slots it
-- leaves the slots out and reads no entry.
function ledger.holders_text(has_slots)
  local texts = {}
  for _, member in ipairs(ledger.rows_of('g', 'h', LISTED)) do
    local _, fence, ticket = read(MEMBER, member)
    local entry = has_slots and ledger.entry_of(ticket)
    texts[#texts + 1] = format('%d:%s', fence, entry and entry.slots or '')
  end
  if head.holders > LISTED then texts[#texts + 1] = '+' end
  return table.concat(texts, ' ')
end

-- Where slots above a lowered limit are held, the answer has all holders, because the asker adds up
-- the grants that the nodes know.
function ledger.took(entry)
  local lease = ledger.lease_of(entry.lease)
  local left = max((lease and lease.ends or 0) - head.clock, 0)
  return format('took %s %d %s %d %d %s', entry.ticket, entry.fence, entry.slots,
    ledger.limit_now(), left, ledger.holders_text(head.top > ledger.limit_now()))
end

function ledger.stand_as_asked(want, entry)
  if entry then
    ledger.look(entry, want)
  elseif not want.most or head.waiting < want.most then
    ledger.enqueue(want, {})
  else
    return false
  end
  return true
end

function ledger.refuse_vote(want, entry, why)
  if want.enqueue and why ~= 'fence' and not ledger.stand_as_asked(want, entry) then
    why = 'too-many-waiting'
  end
  if want.enqueue and why ~= 'fence' and why ~= 'too-many-waiting' then ledger.keep_terms(want) end
  return format('not %s %s %d %d %d %d %d %s', want.ticket, why, head.fence, ledger.limit_now(),
    head.held, head.waiting, ledger.guard_left, ledger.holders_text(true))
end

-- Keeps the kind and the limit of the first request. A limit that was set for earlier holders has
-- ended, and so has its version.
function ledger.keep_terms(want)
  head.kind = want.kind
  local stated = want.stated or (not head.pinned and 1) or nil
  if head.stated or not stated then return end
  local versions = { limit = 0 }
  if not ledger.is_fresh then
    local text = call('hget', records, 'v') or '0 0 0'
    local limit, pin, pause = match(text, '^(%d+) (%d+) (%d+)$')
    versions = { limit = limit + 0, pin = pin + 0, pause = pause + 0 }
  end
  head.stated = stated
  if versions.limit > 0 then
    versions.limit = 0
    ledger.keep_versions(versions)
  end
end

-- Gives how many permits a newcomer has to leave free: as many as the reachable waiters want.
function ledger.wanted_by_others()
  if head.waiting == 0 then return 0 end
  if head.waiting > LISTED then return MOST_PERMITS end
  local wanted = 0
  for _, member in ipairs(ledger.rows_of('q', 'r', LISTED)) do
    local waiter = ledger.entry_of(sub(member, 10))
    if waiter and waiter.inbox and ledger.is_listening(waiter.inbox) then
      wanted = wanted + waiter.permits
    end
  end
  return wanted
end

function ledger.why_not(want, entry, limit)
  if ledger.guard_left > 0 then return 'guarded' end
  if head.paused then return 'paused' end
  if want.permits > limit - head.held then return 'full' end
  if not entry and want.permits > limit - head.held - ledger.wanted_by_others() then
    return 'late'
  end
  if want.fence <= head.fence then return 'fence' end
  if want.slots and want.slots[#want.slots][2] >= limit then return 'full' end
end

function ledger.vote(want, entry)
  local slots
  if head.held == 0 and head.top > 0 then
    -- All slots are free, so they become one range.
    head.top = 0
    ledger.clear_free_slots()
  end
  if want.slots then
    slots = ledger.take_given(want.slots)
  else
    slots = ledger.take_slots(want.permits)
  end
  if not slots then return nil end
  if entry then
    ledger.part(entry)
    head.waiting = head.waiting - 1
    ledger.remove_entry(entry)
  end
  local vote = ledger.new_entry(want, want.lease)
  vote.slots, vote.fence = slots, want.fence
  head.holders, head.held, head.fence = head.holders + 1, head.held + want.permits,
    max(head.fence, want.fence)
  local lease = ledger.join(vote, want.ttl, want.margin)
  lease.ends, lease.ends_wall = max(lease.ends, head.clock + want.ttl),
    max(lease.ends_wall, now + want.ttl)
  ledger.put_lease(lease)
  ledger.put_entry(vote)
  ledger.keep_terms(want)
  return ledger.took(vote)
end

-- Compares with a vote of an earlier try: the same vote stands, an older vote makes way, and a
-- newer vote stays.
function ledger.earlier(want, entry)
  if not entry or not entry.fence then return nil, entry end
  if entry.fence == want.fence
      and (not want.slots or ledger.slots_text(want.slots) == entry.slots) then
    return ledger.took(entry)
  end
  if entry.fence > want.fence then
    return 'not ' .. format('%s stale %d 0 0 0 0 ', want.ticket, entry.fence)
  end
  ledger.leave(entry)
end

function ledger.take(want)
  if want.not_after and now > want.not_after then return 'too-late ' .. want.ticket end
  local entry = ledger.entry_of(want.ticket)
  local cause = not entry and ledger.cause_of(want.ticket)
  if cause then return 'ended ' .. want.ticket .. ' ' .. cause end
  local answer
  answer, entry = ledger.earlier(want, entry)
  if answer then return answer end
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
  local why = ledger.why_not(want, entry, limit)
  if why then return ledger.refuse_vote(want, entry, why) end
  return ledger.vote(want, entry) or ledger.refuse_vote(want, entry, 'full')
end

function ledger.mend(want)
  local entry = ledger.entry_of(want.ticket)
  if not entry and ledger.cause_of(want.ticket) then return 'cancelled ' .. want.ticket end
  local answer
  answer, entry = ledger.earlier(want, entry)
  want.enqueue = false
  return answer or ledger.vote(want, entry) or ledger.refuse_vote(want, entry, 'full')
end

function ledger.yield(want)
  local entry, had_freed = ledger.entry_of(want.ticket), ledger.has_freed
  if entry and entry.fence and entry.fence <= want.fence then
    ledger.leave(entry)
    -- A client that this vote kept out notices its own failure, so it needs no hint.
    ledger.has_freed = had_freed
    if want.enqueue then ledger.enqueue(want, {}) end
  end
  return 'cancelled ' .. want.ticket
end

function ledger.parse_take(text)
  local slots, fence, rest = match(text, '^(%S+) (%d+) (.*)$')
  if not slots or (slots ~= 'any' and not match(slots, '^%d[%d,-]*$')) then
    ledger.refuse('SEINPAALARGUMENT', 'take cannot be read')
  end
  local want = ledger.parse_acquire(rest)
  want.slots, want.fence = slots ~= 'any' and ledger.slots_of(slots) or nil,
    ledger.number(fence, 0, UNBOUNDED, 'the fence')
  return want
end

for _, operation in ipairs({ 'take', 'mend', 'yield' }) do
  ledger.operations[operation] = function(text)
    local want = ledger.parse_take(text)
    return function() return ledger[operation](want) end
  end
end

-- Hands the ticket over under the asker's fence. The ticket keeps the slots for which this node has
-- voted.
function ledger.transfer(want)
  if want.not_after and now > want.not_after then return 'too-late ' .. want.ticket end
  local entry, refusal = ledger.held_entry(want.ticket)
  refusal = refusal or ledger.attach_refusal(entry, want)
  if refusal then return refusal end
  local is_same = entry.lease == want.lease and entry.inbox == ledger.me
  if is_same and entry.fence == want.fence then return ledger.took(entry) end
  if want.fence <= head.fence then
    return format('not %s fence %d %d %d %d 0 ', want.ticket, head.fence, ledger.limit_now(),
      head.held, head.waiting)
  end
  head.fence = want.fence
  if is_same then
    -- This is the same attach, put to the vote again.
    entry.fence = want.fence
    ledger.put_entry(entry)
  else
    ledger.hand_over(entry, want, want.fence)
  end
  return ledger.took(entry)
end

ledger.operations.attach = function(text)
  local fence, rest = match(text, '^(%d+) (.*)$')
  local want = ledger.parse_attach(rest or '')
  want.fence = ledger.number(fence, 0, UNBOUNDED, 'the fence')
  return function() return ledger.transfer(want) end
end
