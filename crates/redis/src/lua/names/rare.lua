-- What few calls need, in three parts, which are made one by one: `expire`, `acquire`, `general`.
-- They add to the functions of ledger.lua.

local function add_rare(L, part)
  -- What time ends: leases, and what is remembered of a series. Only calls in which something may have run
  -- out make these functions.

  if part == 'expire' then
    function L.rows_under(lease)
      local found, record = {}, lease.of or lease
      for _, row in ipairs(L.rows_of(record)) do
        if not row.is_elsewhere and row.waits == (lease.of ~= nil) then found[#found + 1] = row end
      end
      table.sort(found, function(a, b) return L.is_before(L.ticket_of(a), L.ticket_of(b)) end)
      return found
    end

    function L.end_lease(lease)
      local found = L.rows_under(lease)
      -- Only damage leaves a lease without tickets. It would come up again in every call.
      if #found == 0 then
        lease.members, lease.digest = 0, 0
        if lease.of then lease.of.waiting = false end
      end
      for _, row in ipairs(found) do
        if not L.has_work() then return end
        L.end_ticket(row, L.EXPIRED)
      end
    end

    -- Gives the leases whose end has come, the first one first.
    function L.leases_ended(which, at)
      local found = {}
      for id, record in pairs(L.records) do
        if record and record.members > 0 and record[which] <= at then
          found[#found + 1] = { record[which], id, record }
        end
        local waiting = record and record.waiting
        if waiting and waiting[which] <= at then
          found[#found + 1] = { waiting[which], string.sub(id, 1, 12) .. '\127\255\255\255', waiting }
        end
      end
      table.sort(found, function(a, b) return a[1] < b[1] or a[1] == b[1] and L.is_before(a[2], b[2]) end)
      return found
    end

    -- Loads the records of which something may have ended, and notes when the next one may.
    function L.load_due()
      local members = redis.call('zrangebylex', L.order, '[e', '(f', 'limit', '0', '129')
      L.due = 2 ^ 53
      for _, member in ipairs(members) do
        local _, bound, id = struct.unpack('>c1I8c16', member)
        if bound > L.steady then
          L.due = bound
          return
        end
        local record = L.record_of(id)
        if record then record.is_changed = true else L.remove(member) end
      end
      if #members == 129 then L.due, L.backlog = L.steady, true end
    end

    -- Ends the leases that have run out. The ledger's clock decides, because it cannot jump. If nobody
    -- listens at the inbox of a lease, the server's clock decides as well: there is no client whom a
    -- jump of that clock could hurt (rule 15).
    function L.expire()
      if L.due > L.steady then return end
      L.load_due()
      for _, found in ipairs(L.leases_ended('ends', L.clock)) do
        if not L.has_work() then break end
        L.end_lease(found[3])
      end
      for _, found in ipairs(L.leases_ended('ends_wall', L.now)) do
        local lease = found[3]
        local record = lease.of or lease
        if not L.has_work() then break end
        if record.inbox ~= L.NOBODY and L.is_there(record.inbox) then
          lease.ends_wall = L.now + math.max(lease.ends - L.clock, 1)
        else
          L.end_lease(lease)
        end
      end
    end

    -- Forgets series whose time is over.
    function L.forget()
      L.forget_excess()
      local found = {}
      for id, record in pairs(L.records) do
        if record and record.till > 0 and record.till <= L.clock and not L.is_open(record) then
          found[#found + 1] = { record.till, id, record }
        end
      end
      table.sort(found, function(a, b) return a[1] < b[1] or a[1] == b[1] and L.is_before(a[2], b[2]) end)
      for _, each in ipairs(found) do
        if not L.has_work() then return end
        local record = each[3]
        record.last, record.till, record.reasons, record.is_changed = 0, 0, '', true
      end
    end

    -- A name that remembers too many series forgets those whose bound is the earliest.
    function L.forget_excess()
      local excess = redis.call('hlen', L.key) - 65536
      if excess <= 0 then return end
      for _, member in ipairs(redis.call('zrangebylex', L.order, '[e', '(f', 'limit', '0', '16')) do
        local record = L.record_of(string.sub(member, 10))
        if record and not L.is_open(record) and record.members == 0 and not record.waiting then
          record.last, record.till, record.reasons, record.is_changed = 0, 0, '', true
        end
      end
    end
  end

  -- Acquire in all cases: tickets that are known already, waiters, named slots, slots in several ranges.
  -- Each function reads its request from `argument`, whose body begins at `at` and ends at `to`, and gives
  -- the reply.

  if part == 'acquire' then
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
      if want.wants == 1 then
        local size
        size, after = struct.unpack('<I2', argument, after)
        want.slots, after = string.sub(argument, after, after + size - 1), after + size
      end
      want.about = string.sub(argument, after, to)
      return want
    end

    -- Puts a waiter under the lease of its series' waiters, and renews that lease. One step of the clock
    -- must not take more than half of it.
    function L.stand_in_line(row, want)
      L.join(row, want.waiter_ttl, math.min(want.margin, math.floor(want.waiter_ttl / 2)))
      L.extend(row.record.waiting, want.waiter_ttl, L.bound)
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

    function L.busy(why, in_force)
      return struct.pack('<BBI4I4I4', 3, why, in_force, L.held, L.waiting)
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
        return L.busy(L.is_paused and 3 or not L.admits() and 4 or 1, in_force)
      end
      if L.waiting >= want.most then return L.busy(2, in_force) end
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

  -- Release, cancel and renew in all cases: tickets that stand elsewhere or belong to another client, some
  -- slots, waiters, many tickets. The arguments are those of acquire.lua.

  if part == 'general' then
    -- Release, cancel. -------------------------------------------------------------------------------

    function L.may_end(row)
      return row.waits or L.asker == L.NOBODY or row.record.inbox == L.asker
    end

    function L.release_all(row, reason)
      local second = math.floor(L.now / 1000000) % 256
      if reason == L.RELEASED and not row.waits and second ~= L.noted then
        L.noted = second
        L.settings.r = with_length(L.settings.r or redis.call('hget', L.key, 'r'), L.now - row.fence)
      end
      L.leave(row)
      L.close(row, reason)
      if row.record.inbox ~= L.asker then L.notify(row, 'e' .. string.char(reason)) end
      L.expire_and_grant()
    end

    -- The request names slots and not a number of them, so that sending it twice is safe.
    function L.release_some(row, some)
      local kept, freed, count = L.split_slots(L.slots_of(row), some)
      if kept == '' then
        L.release_all(row, L.RELEASED)
        return struct.pack('<BI4', 14, 0)
      end
      row.permits = row.permits - count
      L.set_slots(row, kept)
      L.touch(row)
      L.held = L.held - count
      L.free_slots(freed)
      L.expire_and_grant()
      return struct.pack('<BI4', 14, row.permits)
    end

    function L.release(argument, at, to)
      local id, number, after = struct.unpack('<c16I4', argument, at)
      local row = L.find(string.sub(id, 1, 12), number)
      if not row then return L.not_here(string.sub(id, 1, 12), number) end
      if not L.may_end(row) then return L.ended(L.ATTACHED) end
      if after <= to and not row.waits and row.record.inbox == L.asker then
        return L.release_some(row, string.sub(argument, after + 2, to))
      end
      L.release_all(row, L.RELEASED)
      return struct.pack('<BI4', 14, 0)
    end

    -- Refuses a request for this ticket that comes later (cancel before acquire). The first reason stays.
    function L.refuse_later(series, number, time)
      if L.find(series, number) then return end
      local id = L.home_of(series)
      local is_over = L.reason_of(L.record_of(id), number)
      local record = L.make_record(id)
      L.remember(record, number, time)
      if not is_over then L.note_reason(record, number, L.CANCELLED) end
    end

    -- Gives a ticket up in any state. With the lease of an attach, gives up only what that attach has got
    -- or may still get.
    function L.cancel(argument, at, to)
      local id, number, time, after = struct.unpack('<c16I4d', argument, at)
      if not (time >= 0 and time <= 86400000000) then L.refuse('SEINPAALARGUMENT', 'a cancel') end
      local series, lease = string.sub(id, 1, 12), after <= to and string.sub(argument, after, to) or nil
      local row = L.find(series, number)
      if row and L.may_end(row) and (not lease or not row.waits and row.record.id == lease) then
        L.release_all(row, L.CANCELLED)
      elseif lease then
        L.refuse_later(string.sub(lease, 1, 12), struct.unpack('>I4', lease, 13), time)
      else
        L.refuse_later(series, number, time)
      end
      return '\15'
    end

    -- Renew. ------------------------------------------------------------------------------------------

    -- Renews the waiters of a series. The answer has the position, from 1, of the one with the lowest number.
    function L.renew_waiters(argument, at)
      local id, _, ttl, margin, members, digest = struct.unpack('<c16BddI4d', argument, at)
      local record = L.record_of(id)
      local lease = record and record.waiting
      if not lease then return '\12' end
      -- One that is passed over counts as a difference: only a request of its own brings it back.
      if lease.members ~= members or lease.digest ~= digest or lease.passed_over > 0
          or record.inbox ~= L.asker then
        return '\11'
      end
      L.extend(lease, ttl, margin)
      local first
      for _, row in ipairs(L.rows_of(record)) do
        if row.waits and (not first or row.number < first.number) then first = row end
      end
      local before = redis.call('zlexcount', L.order, '[q', '(' .. L.place_of(first))
      return struct.pack('<BdI2I4', 19, ttl, 0, before + 1)
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
      if record.inbox ~= inbox then L.refuse('SEINPAALARGUMENT', 'the lease is another client\'s') end
      L.put(row, record)
      L.join(row, ttl, margin)
    end

    -- With a ttl of 0 a ticket is renewed by the ttl with which it was acquired.
    function L.move_for(renewal, row, inbox)
      local ttl, margin = renewal.ttl, renewal.margin
      if ttl == 0 then ttl, margin = row.ttl, L.margin_of(row.ttl) end
      renewal.own, renewal.is_moved = math.max(renewal.own, row.ttl), true
      L.move(row, renewal.lease, inbox, ttl, margin)
    end

    function L.margin_of(ttl)
      return math.min(1000000, math.floor(ttl / 4))
    end

    function L.renew_one(renewal, series, number)
      local row = L.find(series, number)
      if not row then return L.not_here(series, number) end
      if row.waits then return '\2' end
      if row.record.inbox == L.asker and L.asker ~= L.NOBODY then
        L.move_for(renewal, row, L.asker)
      elseif L.asker ~= L.NOBODY then
        return L.ended(L.ATTACHED)
      elseif row.record.inbox == L.NOBODY then
        L.move_for(renewal, row, L.NOBODY)
      else
        -- The client that keeps this ticket renews it itself, at its own pace (rule 3).
        renewal.kept = math.min(renewal.kept or 9007199254740992, math.max(row.record.ends - L.clock, 0))
      end
      return struct.pack('<Bd', 1, row.fence) .. L.slots_told(L.slots_of(row))
    end

    function L.renew_all(renewal, tickets)
      local replies = {}
      for at = 1, #tickets, 16 do
        local series, number = struct.unpack('>c12I4', tickets, at)
        replies[#replies + 1] = L.renew_one(renewal, series, number)
      end
      local lease = renewal.is_moved and L.record_of(renewal.lease)
      if lease then
        if renewal.ttl == 0 then
          renewal.ttl, renewal.margin = math.max(renewal.own, lease.ends - L.clock), L.margin_of(renewal.own)
        end
        L.extend(lease, renewal.ttl, renewal.margin)
      end
      local valid_for = renewal.ttl
      if renewal.kept then valid_for = math.min(renewal.kept, renewal.is_moved and valid_for or renewal.kept) end
      return struct.pack('<BdI2', 13, valid_for, #replies) .. table.concat(replies)
    end

    function L.renewal_of(lease, ttl, margin)
      if not (ttl >= 100000 and ttl <= 86400000000 or ttl == 0) or not (margin >= 0) then
        L.refuse('SEINPAALARGUMENT', 'a renewal')
      end
      return { lease = lease, ttl = ttl, margin = margin, own = 0, is_moved = false }
    end

    function L.renew_ticket(argument, at)
      local id, number, ttl, margin = struct.unpack('<c16I4dd', argument, at)
      return L.renew_all(L.renewal_of(id, ttl, margin), string.sub(id, 1, 12) .. struct.pack('>I4', number))
    end

    function L.renew_tickets(argument, at, to)
      local id, ttl, margin, after = struct.unpack('<c16dd', argument, at)
      if (to + 1 - after) % 16 > 0 or to - after > 8000 then L.refuse('SEINPAALARGUMENT', 'tickets') end
      return L.renew_all(L.renewal_of(id, ttl, margin), string.sub(argument, after, to))
    end
  end
end
