-- Release, cancel and renew in all cases: tickets that stand elsewhere or belong to another client, some
-- slots, waiters, many tickets. The arguments are those of acquire.lua.

local function add_general(L)
  -- Adds the length of a hold to the last seven, which are codes of seven bits in one number. A code is
  -- the three highest bits of the length. They are only for display, so a busy name notes one release a
  -- second: the first call of a second, if it is a release.
  function L.note_length(took)
    local text = L.settings.r or redis.call('hget', L.key, 'r')
    local code, recent = 1, text and struct.unpack('<d', text) or 0
    if took >= 256 then
      local m, e = math.frexp(took)
      code = math.min((e - 9) * 4 + math.floor(m * 8) - 2, 127)
    end
    L.settings.r = struct.pack('<d', recent % 4398046511104 * 128 + code)
  end

  -- Release, cancel. -------------------------------------------------------------------------------

  function L.may_end(row)
    return row.waits or L.asker == L.NOBODY or row.record.inbox == L.asker
  end

  function L.release_all(row, reason)
    if reason == L.RELEASED and not row.waits and L.now % 1000000 < L.now - L.wall then
      L.note_length(L.now - row.fence)
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

  -- Renews the waiters of a series. The answer has the place of the first of them, from 1; 0 if none is
  -- in the order of service.
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
    L.hear(record)
    local first
    for _, row in ipairs(L.rows_of(record)) do
      if row.waits and (not first or row.rank < first.rank) then first = row end
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
    L.put(row, record)
    L.join(row, ttl, margin)
  end

  function L.renew_one(renewal, series, number)
    local row = L.find(series, number)
    if not row then return L.not_here(series, number) end
    if row.waits then return '\2' end
    if row.record.inbox == L.asker and L.asker ~= L.NOBODY then
      L.move(row, renewal.lease, L.asker, renewal.ttl, renewal.margin)
      renewal.is_moved = true
    elseif L.asker ~= L.NOBODY then
      return L.ended(L.ATTACHED)
    elseif row.record.inbox == L.NOBODY then
      L.move(row, renewal.lease, L.NOBODY, renewal.ttl, renewal.margin)
      renewal.is_moved = true
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
    if lease then L.extend(lease, renewal.ttl, renewal.margin) end
    local valid_for = renewal.ttl
    if renewal.kept then valid_for = math.min(renewal.kept, renewal.is_moved and valid_for or renewal.kept) end
    return struct.pack('<BdI2', 13, valid_for, #replies) .. table.concat(replies)
  end

  function L.renewal_of(lease, ttl, margin)
    if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) then
      L.refuse('SEINPAALARGUMENT', 'a renewal')
    end
    return { lease = lease, ttl = ttl, margin = margin, is_moved = false }
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
