-- Acquire in all cases: tickets that are known already, waiters, named slots, slots in several ranges.
-- Each function reads its request from `argument`, whose body begins at `at` and ends at `to`, and gives
-- the reply.

local function add_acquire(L)

  function L.ended(reason)
    return struct.pack('<BB', 8, reason)
  end

  -- Gives the answer about a ticket that neither holds nor waits.
  function L.not_here(series, number)
    local reason = L.reason_of(L.record_of(L.home_of(series)), number)
    return reason and L.ended(reason) or '\9'
  end

  -- Gives ranges, and the names of their slots if they have names.
  function L.slots_told(slots)
    local names = L.is_named and L.names_of(slots) or ''
    return struct.pack('<I2', #slots / 8) .. slots .. struct.pack('<I2', #names) .. names
  end

  function L.told(row)
    if row.waits then return struct.pack('<BI4I4', 2, L.waiting, L.limit) end
    return struct.pack('<BdI4d', 1, row.fence, L.limit, math.max(row.record.ends - L.clock, 0)) .. L.slots_told(L.slots_of(row))
  end

  -- Gives the answer about a ticket as it stands now.
  function L.standing_of(series, number)
    L.take_back(series .. struct.pack('>I4', number))
    local row = L.find(series, number)
    if row then return L.told(row) end
    return L.ended(L.reason_of(L.record_of(L.home_of(series)), number) or L.EXPIRED)
  end

  -- Acquire. ---------------------------------------------------------------------------------------

  function L.read_acquire(argument, at, to)
    local want = {}
    local id, after
    id, want.number, want.kind, want.rule, want.wants, want.permits, want.asked, want.ttl, want.margin,
      want.not_after, want.most, want.priority, want.waiter_ttl, after =
      struct.unpack('<c16I4BBBI4I4ddddbd', argument, at)
    want.id, want.series, want.slots = id, string.sub(id, 1, 12), ''
    if want.wants % 2 == 1 then
      local size
      size, after = struct.unpack('<I2', argument, after)
      want.slots, after = string.sub(argument, after, after + size - 1), after + size
    end
    want.about = string.sub(argument, after, to)
    return want
  end

  -- Notes whether the client of a record listens yet. Until then it counts as listening.
  function L.hear(record)
    record.grace = L.listens and 0 or L.now + 2000000
  end

  -- Puts a waiter under the lease of its series' waiters, and renews that lease. One step of the clock
  -- must not take more than half of it.
  function L.stand_in_line(row, want)
    L.join(row, want.waiter_ttl, math.min(want.margin, math.floor(want.waiter_ttl / 2)))
    L.extend(row.record.waiting, want.waiter_ttl, L.bound)
    L.hear(row.record)
  end

  -- Answers a request whose ticket is known. A waiter keeps its rank; one that was passed over returns
  -- to the order of service.
  function L.look(argument, at, to)
    local want = L.read_acquire(argument, at, to)
    local row = L.find(want.series, want.number)
    if not row then
      local reason = L.reason_of(L.record_of(want.id), want.number)
      if reason then return L.ended(reason) end
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
      L.stand_in_line(row, want)
      L.serve()
    elseif row.record.inbox ~= L.asker then
      return L.ended(L.ATTACHED)
    end
    return L.standing_of(want.series, want.number)
  end

  -- Gives the record for a new ticket, and makes its row.
  function L.new_row(want)
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

  function L.store_terms(want, is_new, in_force)
    L.kind = want.kind
    if L.is_pinned then
      if is_new then L.is_stated, L.settings.s = true, struct.pack('<I4', want.asked) end
    else
      L.is_stated, L.limit = true, in_force
    end
  end

  function L.grant_at_once(want, slots)
    local record, row = L.new_row(want)
    if record.members >= 64 then L.refuse('SEINPAALARGUMENT', 'a lease has at most 64 tickets') end
    L.hold(row, slots)
    L.put(row, record)
    L.join(row, want.ttl, want.margin)
    L.remember(record, want.number, want.ttl)
    return L.told(row)
  end

  -- A waiter's rank is its arrival, earlier by ten seconds for each step of priority. It never changes,
  -- so no waiter waits for ever.
  function L.enqueue(want, slots)
    local record, row = L.new_row(want)
    if record.waiting and record.waiting.members >= 64 then
      L.refuse('SEINPAALARGUMENT', 'a lease has at most 64 tickets')
    end
    L.arrival = math.max(L.arrival + 1, L.clock)
    row.waits, row.rank, row.priority = true, L.arrival - want.priority * 10000000, want.priority
    row.margin, row.is_passed_over = want.margin, false
    if #slots > 0 then row.slots = slots end
    L.waiting = L.waiting + 1
    L.put(row, record)
    L.add(L.place_of(row))
    L.stand_in_line(row, want)
    L.serve()
    return L.standing_of(want.series, want.number)
  end

  -- Gives the first holder that the order lists, for a refusal: its ticket and what it says of itself.
  function L.first_holder()
    for _, member in ipairs(redis.call('zrangebylex', L.order, '[e', '(f', 'limit', '0', '4')) do
      local record = L.record_of(string.sub(member, 10))
      for _, row in ipairs(record and L.rows_of(record) or {}) do
        if not row.waits and not row.is_elsewhere then
          return L.ticket_of(row) .. struct.pack('<I2', #row.about) .. row.about
        end
      end
    end
  end

  function L.busy(want, why, in_force)
    local holder = want.wants >= 2 and L.holders > 0 and L.first_holder() or nil
    return struct.pack('<BBI4I4I4B', 3, why, in_force, L.held, L.waiting, holder and 1 or 0)
      .. (holder and struct.pack('<I4', L.holders) .. holder or '')
  end

  -- Takes permits, joins the line, or refuses. hot.lua has compared the terms.
  function L.want(argument, at, to)
    local want = L.read_acquire(argument, at, to)
    L.drop_terms()
    local is_new = want.rule == 3 or (want.rule > 0 and not L.is_stated)
    local in_force = is_new and not L.is_pinned and want.asked or L.limit
    local is_other = want.rule == 4 or want.rule == 1 and not L.is_pinned
    if L.kind ~= 0 and L.kind ~= want.kind then return struct.pack('<BBB', 4, L.kind, want.kind) end
    if is_other and (L.is_pinned or L.is_stated) and L.limit ~= want.asked then
      return struct.pack('<BI4I4B', 5, L.limit, want.asked, L.is_pinned and 1 or 0)
    end
    if want.permits > in_force and in_force > 0 then return struct.pack('<BI4I4', 6, want.permits, in_force) end
    local wanted, refusal = '', nil
    if want.slots ~= '' then
      wanted, refusal = L.wanted_slots(want)
      if refusal then return refusal end
    end
    if want.rule == 3 or in_force ~= L.limit then
      -- The new limit may let waiters in, and they come before this request (rule 5).
      L.is_stated = true
      if L.is_pinned then L.settings.s = struct.pack('<I4', want.asked) else L.limit = in_force end
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
      L.store_terms(want, is_new, in_force)
      return L.grant_at_once(want, slots)
    end
    if want.most < 0 then
      return L.busy(want, L.is_paused and 3 or not L.admits() and 4 or 1, in_force)
    end
    if L.waiting >= want.most then return L.busy(want, 2, in_force) end
    L.store_terms(want, is_new, in_force)
    return L.enqueue(want, wanted)
  end

  -- Without named slots none can be wanted.
  L.wanted_slots = L.wanted_slots or function(want)
    local count = 1
    for _ in string.gmatch(want.slots, ',') do count = count + 1 end
    if count > want.permits then return nil, struct.pack('<BI4I4', 6, count, want.permits) end
    return nil, struct.pack('<BI2', 18, 0)
  end
end
