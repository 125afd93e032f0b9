-- What time ends: leases, and what is remembered of a series. Only calls in which something may have run
-- out make these functions.

local function add_expiry(L)
  function L.rows_under(lease)
    local found, record = {}, lease.of or lease
    for _, row in ipairs(L.rows_of(record)) do
      if not row.is_elsewhere and row.waits == (lease.of ~= nil) then found[#found + 1] = row end
    end
    table.sort(found, function(a, b) return L.ticket_of(a) < L.ticket_of(b) end)
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
    table.sort(found, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
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
      if record.inbox ~= L.NOBODY and L.listens(record) then
        lease.ends_wall = L.now + math.max(lease.ends - L.clock, 1)
      else
        L.end_lease(lease)
      end
    end
  end

  -- Forgets series whose time is over. A name that remembers too many forgets those first whose
  -- bound is the earliest.
  function L.forget()
    local found = {}
    for id, record in pairs(L.records) do
      if record and record.till > 0 and record.till <= L.clock and not L.is_open(record) then
        found[#found + 1] = { record.till, id, record }
      end
    end
    table.sort(found, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
    for _, each in ipairs(found) do
      if not L.has_work() then return end
      local record = each[3]
      record.last, record.till, record.reasons, record.is_changed = 0, 0, '', true
    end
  end

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
