-- The requests of hot.lua in all other cases: tickets that are known already or stand elsewhere,
-- waiters, slots in several ranges, named slots. Each function reads its request from `argument`,
-- whose lease or series begins at `at` and which ends at `to`, and gives the reply.

local function add_general(L)
  local pack, read, sub = struct.pack, struct.unpack, string.sub
  local min, max = math.min, math.max
  local RELEASED, CANCELLED, EXPIRED, ATTACHED = 0, 1, 2, 5
  local NOBODY = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

  local function ended(reason)
    return pack('<BB', 8, reason)
  end

  -- Gives the answer about a ticket that neither holds nor waits.
  function L.not_here(series, number)
    local reason = L.reason_of(L.record_of(L.home_of(series)), number)
    return reason and ended(reason) or '\9'
  end

  -- Gives ranges, and the names of their slots if they have names.
  function L.slots_told(slots)
    local names = L.is_named and L.names_of(slots) or ''
    return pack('<I2', #slots / 8) .. slots .. pack('<I2', #names) .. names
  end

  function L.told(row)
    if row.waits then return pack('<BI4I4', 2, L.waiting, L.limit) end
    return pack('<BdI4d', 1, row.fence, L.limit, max(row.record.ends - L.clock, 0)) .. L.slots_told(L.slots_of(row))
  end

  -- Gives the answer about a ticket as it stands now.
  local function standing_of(series, number)
    L.take_back(series .. pack('>I4', number))
    local row = L.find(series, number)
    if row then return L.told(row) end
    return ended(L.reason_of(L.record_of(L.home_of(series)), number) or EXPIRED)
  end

  -- Acquire. ---------------------------------------------------------------------------------------

  local function read_acquire(argument, at, to)
    local want = {}
    local id, after
    id, want.number, want.kind, want.rule, want.wants, want.permits, want.asked, want.ttl, want.margin,
      want.not_after, want.most, want.priority, want.waiter_ttl, after =
      read('<c16I4BBBI4I4ddddbd', argument, at)
    want.id, want.series, want.slots = id, sub(id, 1, 12), ''
    if want.wants % 2 == 1 then
      local size
      size, after = read('<I2', argument, after)
      want.slots, after = sub(argument, after, after + size - 1), after + size
    end
    want.about = sub(argument, after, to)
    return want
  end

  -- Notes whether the client of a record listens yet. Until then it counts as listening.
  local function hear(record)
    record.grace = L.listens and 0 or L.now + 2000000
  end

  -- Puts a waiter under the lease of its series' waiters, and renews that lease. One step of the clock
  -- must not take more than half of it.
  local function stand_in_line(row, want)
    L.join(row, want.waiter_ttl, min(want.margin, math.floor(want.waiter_ttl / 2)))
    L.extend(row.record.waiting, want.waiter_ttl, L.bound)
    hear(row.record)
  end

  -- Answers a request whose ticket is known. A waiter keeps its rank; one that was passed over returns
  -- to the order of service.
  function L.look(argument, at, to)
    local want = read_acquire(argument, at, to)
    local row = L.find(want.series, want.number)
    if not row then
      local reason = L.reason_of(L.record_of(want.id), want.number)
      if reason then return ended(reason) end
      return L.want(argument, at, to)
    end
    if row.waits then
      L.part(row)
      if row.is_passed_over then
        L.remove(L.place_of(row))
        row.is_passed_over = false
        L.add(L.place_of(row))
        L.touch(row)
      end
      row.record.inbox = L.asker
      stand_in_line(row, want)
      L.serve()
    elseif row.record.inbox ~= L.asker then
      return ended(ATTACHED)
    end
    return standing_of(want.series, want.number)
  end

  -- Gives the record for a new ticket, and makes its row.
  local function new_row(want)
    local record = L.make_record(want.id)
    local rows = L.rows_of(record)
    if #rows == 0 then
      record.inbox = L.asker
      L.share(record, want.ttl, want.about)
    elseif record.inbox ~= L.asker and (record.members > 0 or record.waiting) then
      L.refuse('SEINPAALARGUMENT', 'the series is another client\'s')
    else
      record.inbox = L.asker
    end
    return record, {
      series = want.series, number = want.number, permits = want.permits, ttl = want.ttl, about = want.about,
      waits = false, slots = false,
    }
  end

  local function store_terms(want, is_new, in_force)
    L.kind = want.kind
    if L.is_pinned then
      if is_new then L.is_stated, L.settings.s = true, pack('<I4', want.asked) end
    else
      L.is_stated, L.limit = true, in_force
    end
  end

  local function grant_at_once(want, slots)
    local record, row = new_row(want)
    if record.members >= 64 then L.refuse('SEINPAALARGUMENT', 'a lease has at most 64 tickets') end
    L.hold(row, slots)
    L.put(row, record)
    L.join(row, want.ttl, want.margin)
    L.remember(record, want.number, want.ttl)
    return L.told(row)
  end

  -- A waiter's rank is its arrival, earlier by ten seconds for each step of priority. It never changes,
  -- so no waiter waits for ever.
  local function enqueue(want, slots)
    local record, row = new_row(want)
    if record.waiting and record.waiting.members >= 64 then
      L.refuse('SEINPAALARGUMENT', 'a lease has at most 64 tickets')
    end
    L.arrival = max(L.arrival + 1, L.clock)
    row.waits, row.rank, row.priority = true, L.arrival - want.priority * 10000000, want.priority
    row.margin, row.is_passed_over = want.margin, false
    if #slots > 0 then row.slots = slots end
    L.waiting = L.waiting + 1
    L.put(row, record)
    L.add(L.place_of(row))
    stand_in_line(row, want)
    L.serve()
    return standing_of(want.series, want.number)
  end

  -- Gives the first holder that the order lists, for a refusal: its ticket and what it says of itself.
  local function first_holder()
    for _, member in ipairs(redis.call('zrangebylex', L.order, '[e', '(f', 'limit', '0', '4')) do
      local record = L.record_of(sub(member, 10))
      for _, row in ipairs(record and L.rows_of(record) or {}) do
        if not row.waits and not row.is_elsewhere then
          return L.ticket_of(row) .. pack('<I2', #row.about) .. row.about
        end
      end
    end
  end

  local function busy(want, why, in_force)
    local holder = want.wants >= 2 and L.holders > 0 and first_holder() or nil
    return pack('<BBI4I4I4B', 3, why, in_force, L.held, L.waiting, holder and 1 or 0)
      .. (holder and pack('<I4', L.holders) .. holder or '')
  end

  -- Takes permits, joins the line, or refuses. hot.lua has compared the terms.
  function L.want(argument, at, to)
    local want = read_acquire(argument, at, to)
    L.drop_terms()
    local is_new = want.rule == 3 or (want.rule > 0 and not L.is_stated)
    local in_force = is_new and not L.is_pinned and want.asked or L.limit
    local is_other = want.rule == 4 or want.rule == 1 and not L.is_pinned
    if L.kind ~= 0 and L.kind ~= want.kind then return pack('<BBB', 4, L.kind, want.kind) end
    if is_other and (L.is_pinned or L.is_stated) and L.limit ~= want.asked then
      return pack('<BI4I4B', 5, L.limit, want.asked, L.is_pinned and 1 or 0)
    end
    if want.permits > in_force and in_force > 0 then return pack('<BI4I4', 6, want.permits, in_force) end
    local wanted, refusal = '', nil
    if want.slots ~= '' then
      wanted, refusal = L.wanted_slots(want)
      if refusal then return refusal end
    end
    if want.rule == 3 or in_force ~= L.limit then
      -- The new limit may let waiters in, and they come before this request (rule 5).
      L.is_stated = true
      if L.is_pinned then L.settings.s = pack('<I4', want.asked) else L.limit = in_force end
      L.serve()
    end
    local is_free, slots
    if L.is_named then
      slots = L.left_by_the_line(want.permits, wanted)
      is_free = slots ~= nil
    else
      is_free = want.permits <= in_force - L.held and L.admits() and not L.first_waiter()
    end
    if is_free then
      store_terms(want, is_new, in_force)
      return grant_at_once(want, slots)
    end
    if want.most < 0 then
      return busy(want, L.is_paused and 3 or not L.admits() and 4 or 1, in_force)
    end
    if L.waiting >= want.most then return busy(want, 2, in_force) end
    store_terms(want, is_new, in_force)
    return enqueue(want, wanted)
  end

  -- Without named slots none can be wanted.
  L.wanted_slots = L.wanted_slots or function(want)
    local count = 1
    for _ in string.gmatch(want.slots, ',') do count = count + 1 end
    if count > want.permits then return nil, pack('<BI4I4', 6, count, want.permits) end
    return nil, pack('<BI2', 18, 0)
  end

  -- Release, cancel. -------------------------------------------------------------------------------

  local function may_end(row)
    return row.waits or L.asker == NOBODY or row.record.inbox == L.asker
  end

  function L.release_all(row, reason)
    if reason == RELEASED and not row.waits and L.now % 1000000 < L.now - L.wall then
      local text = L.settings.r or redis.call('hget', L.key, 'r')
      L.settings.r = L.note_length(text, L.now - row.fence)
    end
    L.leave(row)
    L.close(row, reason)
    if row.record.inbox ~= L.asker then L.notify(row, 'e' .. string.char(reason)) end
    L.expire_and_grant()
  end

  -- The request names slots and not a number of them, so that sending it twice is safe.
  local function release_some(row, some)
    local kept, freed, count = L.split_slots(L.slots_of(row), some)
    if kept == '' then
      L.release_all(row, RELEASED)
      return pack('<BI4', 14, 0)
    end
    row.permits = row.permits - count
    L.set_slots(row, kept)
    L.touch(row)
    L.held = L.held - count
    L.free_slots(freed)
    L.expire_and_grant()
    return pack('<BI4', 14, row.permits)
  end

  function L.release(argument, at, to)
    local id, number, after = read('<c16I4', argument, at)
    local row = L.find(sub(id, 1, 12), number)
    if not row then return L.not_here(sub(id, 1, 12), number) end
    if not may_end(row) then return ended(ATTACHED) end
    if after <= to and not row.waits and row.record.inbox == L.asker then
      return release_some(row, sub(argument, after + 2, to))
    end
    L.release_all(row, RELEASED)
    return pack('<BI4', 14, 0)
  end

  -- Refuses a request for this ticket that comes later (cancel before acquire). The first reason stays.
  local function refuse_later(series, number, time)
    if L.find(series, number) then return end
    local id = L.home_of(series)
    local is_over = L.reason_of(L.record_of(id), number)
    local record = L.make_record(id)
    L.remember(record, number, time)
    if not is_over then L.note_reason(record, number, CANCELLED) end
  end

  -- Gives a ticket up in any state. With the lease of an attach, gives up only what that attach has got
  -- or may still get.
  function L.cancel(argument, at, to)
    local id, number, time, after = read('<c16I4d', argument, at)
    if not (time >= 0 and time <= 86400000000) then L.refuse('SEINPAALARGUMENT', 'a cancel') end
    local series, lease = sub(id, 1, 12), after <= to and sub(argument, after, to) or nil
    local row = L.find(series, number)
    if row and may_end(row) and (not lease or not row.waits and row.record.id == lease) then
      L.release_all(row, CANCELLED)
    elseif lease then
      refuse_later(sub(lease, 1, 12), read('>I4', lease, 13), time)
    else
      refuse_later(series, number, time)
    end
    return '\15'
  end

  -- Renew. ------------------------------------------------------------------------------------------

  -- Renews the waiters of a series. The answer has the place of the first of them, from 1; 0 if none is
  -- in the order of service.
  function L.renew_waiters(argument, at)
    local id, _, ttl, margin, members, digest = read('<c16BddI4d', argument, at)
    local record = L.record_of(id)
    local lease = record and record.waiting
    if not lease then return '\12' end
    -- One that is passed over counts as a difference: only a request of its own brings it back.
    if lease.members ~= members or lease.digest ~= digest or lease.passed_over > 0
        or record.inbox ~= L.asker then
      return '\11'
    end
    L.extend(lease, ttl, margin)
    hear(record)
    local first
    for _, row in ipairs(L.rows_of(record)) do
      if row.waits and (not first or row.rank < first.rank) then first = row end
    end
    local before = redis.call('zlexcount', L.order, '[q', '(' .. L.place_of(first))
    return pack('<BdI2I4', 19, ttl, 0, before + 1)
  end

  -- Puts a ticket under another lease, for another client.
  function L.move(row, lease, inbox, ttl, margin)
    local record = row.record
    if record.id == lease and record.inbox == inbox then return end
    L.part(row)
    L.take_out(row)
    record = L.make_record(lease)
    if #L.rows_of(record) == 0 then
      L.share(record, row.ttl, row.about)
    end
    if record.members == 0 and not record.waiting then record.inbox = inbox end
    L.put(row, record)
    L.join(row, ttl, margin)
  end

  local function renew_one(renewal, series, number)
    local row = L.find(series, number)
    if not row then return L.not_here(series, number) end
    if row.waits then return '\2' end
    if row.record.inbox == L.asker and L.asker ~= NOBODY then
      L.move(row, renewal.lease, L.asker, renewal.ttl, renewal.margin)
      renewal.is_moved = true
    elseif L.asker ~= NOBODY then
      return ended(ATTACHED)
    elseif row.record.inbox == NOBODY then
      L.move(row, renewal.lease, NOBODY, renewal.ttl, renewal.margin)
      renewal.is_moved = true
    else
      -- The client that keeps this ticket renews it itself, at its own pace (rule 3).
      renewal.kept = min(renewal.kept or 9007199254740992, max(row.record.ends - L.clock, 0))
    end
    return pack('<Bd', 1, row.fence) .. L.slots_told(L.slots_of(row))
  end

  local function renew_all(renewal, tickets)
    local replies = {}
    for at = 1, #tickets, 16 do
      local series, number = read('>c12I4', tickets, at)
      replies[#replies + 1] = renew_one(renewal, series, number)
    end
    local lease = renewal.is_moved and L.record_of(renewal.lease)
    if lease then L.extend(lease, renewal.ttl, renewal.margin) end
    local valid_for = renewal.ttl
    if renewal.kept then valid_for = min(renewal.kept, renewal.is_moved and valid_for or renewal.kept) end
    return pack('<BdI2', 13, valid_for, #replies) .. table.concat(replies)
  end

  local function renewal_of(lease, ttl, margin)
    if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) then
      L.refuse('SEINPAALARGUMENT', 'a renewal')
    end
    return { lease = lease, ttl = ttl, margin = margin, is_moved = false }
  end

  function L.renew_ticket(argument, at)
    local id, number, ttl, margin = read('<c16I4dd', argument, at)
    return renew_all(renewal_of(id, ttl, margin), sub(id, 1, 12) .. pack('>I4', number))
  end

  function L.renew_tickets(argument, at, to)
    local id, ttl, margin, after = read('<c16dd', argument, at)
    if (to + 1 - after) % 16 > 0 or to - after > 8000 then L.refuse('SEINPAALARGUMENT', 'tickets') end
    return renew_all(renewal_of(id, ttl, margin), sub(argument, after, to))
  end
end
