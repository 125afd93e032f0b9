-- The ledger of a name, as functions on tables: header, records and order; who holds and who waits; how a
-- call ends. For everything that is not on the straight path of hot.lua.
--
-- All is in one table, `L`: the header's fields, what the call knows, and these functions. They are made
-- only where a call needs them, because making one costs as much as ten steps. They use no local of this
-- file but `L`, since each captured local makes that dearer.

local function add_ledger(L, RECORD, RECORD_SIZE, ROW, ROW_SIZE)
  add_common(L)

  function L.refuse(code, what)
    error({ refusal = code .. ' ' .. what }, 0)
  end

  function L.damaged(what)
    L.refuse('SEINPAALCORRUPT', what)
  end

  -- Writes what the straight path has left to be written, and does one thing.
  function L.run(task, argument, at, to, free, adds, removes)
    for i = 1, free and #free or 0 do L.add(free[i]) end
    for i = 2, adds and #adds or 0, 2 do L.add(adds[i]) end
    for i = 1, removes and #removes or 0 do L.remove(removes[i]) end
    return L[task](argument, at, to)
  end

  -- The order. -----------------------------------------------------------------------------------
  --
  -- Members are written at once, so that later steps of the call read them. A server without free
  -- memory refuses ZADD, unless the script has removed something before. Only a call that does
  -- nothing but grow may be refused.

  function L.add(member)
    L.write_first('zadd', L.order, '0', member)
  end

  function L.remove(member)
    redis.call('zrem', L.order, member)
    L.progress.has_written = true
  end

  function L.write_first(...)
    local reply = redis.pcall(...)
    if type(reply) == 'table' and reply.err then
      if L.grows or L.progress.has_written then error(reply, 0) end
      redis.call('hdel', L.key, '-')
      redis.call(...)
    end
    L.progress.has_written = true
  end

  -- Records. -------------------------------------------------------------------------------------

  function L.new_record(id)
    return {
      id = id, inbox = L.asker, ends = 0, ends_wall = 0, ttl = 0, last = 0, till = 0, digest = 0,
      members = 0, listed = 0, about = '', reasons = '', waiting = false,
      rows = '', list = nil, is_changed = false,
    }
  end

  function L.read_record(id, text)
    if #text < RECORD_SIZE then L.damaged('a record is too short') end
    local it, flags, about, at = { id = id, is_changed = false }
    it.inbox, it.ends, it.ends_wall, it.ttl, it.last, it.till, it.digest, it.members, it.listed, flags,
      about, at = struct.unpack(RECORD, text)
    it.waiting = false
    it.about = string.sub(text, at, at + about - 1)
    at = at + about
    it.reasons = ''
    if flags >= 2 then
      local reasons
      reasons, at = struct.unpack('<I2', text, at)
      it.reasons = string.sub(text, at, at + reasons - 1)
      at = at + reasons
    end
    if flags % 2 == 1 then
      local w = { of = it }
      w.ends, w.ends_wall, w.digest, w.members, w.passed_over, at = struct.unpack('<dddBB', text, at)
      it.waiting = w
    end
    if flags > 3 or at > #text + 1 or #it.reasons % 5 > 0 then L.damaged('a record cannot be read') end
    it.rows = string.sub(text, at)
    return it
  end

  -- Gives the record of an id, or false.
  function L.record_of(id)
    local it = L.records[id]
    if it == nil then
      local text = L.texts[id]
      if text then
        L.texts[id], it = nil, L.read_record(id, text)
        it.is_changed = true
      else
        text = L.known[id]
        if text == nil then text = redis.call('hget', L.key, id) end
        it = text and L.read_record(id, text)
      end
      L.records[id] = it
    end
    return it
  end

  -- Whether an ID comes before another one. Lua itself compares texts by the server's locale.
  function L.is_before(a, b)
    for at = 1, 16, 4 do
      local x, y = struct.unpack('>I4', a, at), struct.unpack('>I4', b, at)
      if x ~= y then return x < y end
    end
    return false
  end

  -- Takes over the records that the straight path has put away.
  function L.take_over()
    local ids = {}
    for id in pairs(L.texts) do ids[#ids + 1] = id end
    for _, id in ipairs(ids) do L.record_of(id) end
  end

  function L.make_record(id)
    local it = L.record_of(id)
    if not it then
      it = L.new_record(id)
      L.records[id] = it
    end
    it.is_changed = true
    return it
  end

  -- Rows. ----------------------------------------------------------------------------------------

  function L.read_slots(text, at)
    local count, after = struct.unpack('<I2', text, at)
    return string.sub(text, after, after + 8 * count - 1), after + 8 * count
  end

  function L.read_more(row, text)
    local flags, at = row.flags, 1
    if row.is_elsewhere then
      row.lease = string.sub(text, 1, 16)
      return
    end
    if math.floor(flags / 8) % 2 == 1 then row.series, at = string.sub(text, 1, 12), 13 end
    if math.floor(flags / 32) % 2 == 1 then row.ttl, at = struct.unpack('<d', text, at) end
    if row.waits then row.margin, row.priority, at = struct.unpack('<db', text, at) end
    if flags >= 128 then row.slots, at = L.read_slots(text, at) end
    if math.floor(flags / 64) % 2 == 1 then row.about = string.sub(text, at) end
  end

  -- Gives the rows of a record as a list. A row keeps its text until something changes in it.
  function L.rows_of(record)
    if record.list then return record.list end
    local list, text, at = {}, record.rows, 1
    while at <= #text do
      local number, flags, size, permits, order, slot, after = struct.unpack(ROW, text, at)
      local row = {
        record = record, series = string.sub(record.id, 1, 12), number = number, flags = flags,
        permits = permits, waits = flags % 2 == 1, is_passed_over = flags % 4 >= 2,
        is_elsewhere = flags % 8 >= 4, fence = order, rank = order, slot = slot, ttl = record.ttl,
        about = record.about, slots = false, text = string.sub(text, at, after + size - 1),
      }
      if size > 0 then L.read_more(row, string.sub(text, after, after + size - 1)) end
      list[#list + 1] = row
      at = after + size
    end
    if at ~= #text + 1 then L.damaged('a row ends too late') end
    record.list = list
    return list
  end

  function L.row_text(row)
    local record, flags, more = row.record, row.waits and 1 or 0, ''
    if row.is_elsewhere then
      return struct.pack(ROW, row.number, 4, 16, 0, 0, 0) .. row.lease
    end
    if row.is_passed_over then flags = flags + 2 end
    if row.series ~= string.sub(record.id, 1, 12) then flags, more = flags + 8, row.series end
    if row.ttl ~= record.ttl then flags, more = flags + 32, more .. struct.pack('<d', row.ttl) end
    if row.waits then more = more .. struct.pack('<db', row.margin, row.priority) end
    if row.slots then
      flags, more = flags + 128, more .. struct.pack('<I2', #row.slots / 8) .. row.slots
    end
    if row.about ~= record.about then flags, more = flags + 64, more .. row.about end
    return struct.pack(ROW, row.number, flags, #more, row.permits, row.waits and row.rank or row.fence,
      row.slot or 0) .. more
  end

  -- Sets what the rows of a record share. Rows that were written for other values are written anew.
  function L.share(record, ttl, about)
    for _, row in ipairs(L.rows_of(record)) do row.text = nil end
    record.ttl, record.about = ttl, about
  end

  function L.write_rows(record)
    if not record.list then return record.rows end
    local texts = {}
    for i, row in ipairs(record.list) do
      row.text = row.text or L.row_text(row)
      texts[i] = row.text
    end
    return table.concat(texts)
  end

  function L.text_of(record)
    local flags, waiting, more = 0, record.waiting, ''
    if record.reasons ~= '' then flags, more = 2, struct.pack('<I2', #record.reasons) .. record.reasons end
    if waiting then
      flags, more = flags + 1, more .. struct.pack('<dddBB', waiting.ends, waiting.ends_wall, waiting.digest, waiting.members,
        waiting.passed_over)
    end
    return struct.pack(RECORD, record.inbox, record.ends, record.ends_wall, record.ttl, record.last, record.till,
      record.digest, record.members, record.listed, flags, #record.about)
      .. record.about .. more .. L.write_rows(record)
  end

  function L.is_empty(record)
    return record.members == 0 and not record.waiting and record.till == 0
      and (record.list and #record.list or #record.rows) == 0
  end

  -- Whether a ticket of the series of this record holds, here or under another lease. Mostly the first row
  -- says so.
  function L.is_open(record)
    if not record.list and record.rows ~= '' then
      local flags = string.byte(record.rows, 5) or 1
      if flags % 2 == 0 and flags % 16 < 8 then return true end
    end
    local series = string.sub(record.id, 1, 12)
    for _, row in ipairs(L.rows_of(record)) do
      if not row.waits and row.series == series then return true end
    end
    return false
  end

  -- Gives a time, on the steady clock, before which nothing of a record ends.
  function L.bound_of(record)
    local left, waiting = 2 ^ 53, record.waiting
    if record.members > 0 then left = math.min(record.ends - L.clock, record.ends_wall - L.now) end
    if waiting then left = math.min(left, waiting.ends - L.clock, waiting.ends_wall - L.now) end
    if record.till > 0 and (left > record.till - L.clock) and not L.is_open(record) then
      left = record.till - L.clock
    end
    return left < 2 ^ 53 and math.max(L.steady + left, 1) or 0
  end

  -- Lists a record by a bound of its first end. A bound that is too early is corrected when it has
  -- come, so a renewal leaves it as it is.
  function L.list(record)
    local bound, listed = L.bound_of(record), record.listed
    if listed > 0 and listed <= bound and listed > L.steady then bound = listed end
    if bound ~= listed then
      -- The new member comes first, so that the key is never empty: Redis would drop its expiry.
      if bound > 0 then L.add(struct.pack('>c1I8c16', 'e', bound, record.id)) end
      if listed > 0 then L.remove(struct.pack('>c1I8c16', 'e', listed, record.id)) end
      if listed == 0 then L.is_order_new = true end
      record.listed = bound
    end
    if bound > 0 and bound < L.due then L.due = bound end
  end

  -- Collects the fields to write. Fields of records that are empty go into `gone`.
  function L.collect(fields, gone)
    for id, record in pairs(L.records) do
      if record and record.is_changed then
        if L.is_empty(record) then
          if record.listed > 0 then L.remove(struct.pack('>c1I8c16', 'e', record.listed, id)) end
          record.listed = 0
          gone[#gone + 1] = id
        else
          L.list(record)
          fields[#fields + 1] = id
          fields[#fields + 1] = L.text_of(record)
        end
      end
    end
  end

  -- Tickets. -------------------------------------------------------------------------------------

  function L.home_of(series)
    return series .. '\0\0\0\0'
  end

  function L.ticket_of(row)
    return row.series .. struct.pack('>I4', row.number)
  end

  function L.row_in(record, series, number)
    for i, row in ipairs(L.rows_of(record)) do
      if row.number == number and row.series == series then return row, i end
    end
  end

  -- Gives the row of a ticket that holds or waits, wherever it stands.
  function L.find(series, number)
    local home = L.record_of(series .. '\0\0\0\0')
    local row = home and L.row_in(home, series, number)
    if row and row.is_elsewhere then
      local other = L.record_of(row.lease)
      row = other and L.row_in(other, series, number)
      if not row then L.damaged('a ticket stands nowhere') end
    end
    return row or nil
  end

  -- Takes a row out of its record, and out of that of its series.
  function L.take_out(row)
    local record, home = row.record, L.home_of(row.series)
    local _, at = L.row_in(record, row.series, row.number)
    table.remove(record.list, at)
    record.is_changed = true
    if record.id ~= home then
      home = L.make_record(home)
      _, at = L.row_in(home, row.series, row.number)
      if at then table.remove(home.list, at) end
    end
  end

  -- Puts a row into a record. The record of its series notes where it stands.
  function L.put(row, record)
    local list = L.rows_of(record)
    row.record, row.text, record.is_changed = record, nil, true
    if #list >= 255 then L.refuse('SEINPAALARGUMENT', 'a lease has too many tickets') end
    list[#list + 1] = row
    local home = L.home_of(row.series)
    if record.id ~= home then
      home = L.make_record(home)
      local others = L.rows_of(home)
      others[#others + 1] = {
        record = home, series = row.series, number = row.number, lease = record.id, is_elsewhere = true,
      }
    end
  end

  -- Changes a row that stays where it is.
  function L.touch(row)
    row.text, row.record.is_changed = nil, true
  end

  -- The lease under which a row stands: that of its record, or that of the record's waiters.
  function L.lease_of(row)
    if row.waits then return row.record.waiting end
    return row.record
  end

  function L.digest_of(series, number)
    local a, b, c = string.byte(series, 10, 12)
    local mixed = (number * 69069 + a * 65536 + b * 256 + c) % 16777216
    return mixed * (mixed * mixed % 16777216)
  end

  -- Puts a row under a lease. A lease that exists keeps its end, because a grant does not renew the
  -- other tickets under it. One that does not exist is made.
  function L.join(row, ttl, margin)
    local record, lease = row.record, L.lease_of(row)
    if row.waits and not lease then
      lease = { of = record, ends = 0, ends_wall = 0, digest = 0, members = 0, passed_over = 0 }
      record.waiting = lease
    end
    if lease.members == 0 then
      lease.ends, lease.ends_wall = L.clock + ttl, L.now + ttl
    end
    lease.members = lease.members + 1
    lease.digest = (lease.digest + L.digest_of(row.series, row.number)) % 2 ^ 48
    record.is_changed = true
    if margin < L.bound then L.bound = margin end
  end

  -- Takes a row from under its lease. The lease goes with its last ticket.
  function L.part(row)
    local lease = L.lease_of(row)
    lease.members = lease.members - 1
    lease.digest = (lease.digest - L.digest_of(row.series, row.number)) % 2 ^ 48
    if row.is_passed_over then lease.passed_over = lease.passed_over - 1 end
    row.record.is_changed = true
    if lease.members == 0 then
      lease.digest = 0
      if row.waits then row.record.waiting = false end
    end
  end

  function L.extend(lease, ttl, margin)
    lease.ends, lease.ends_wall = L.clock + ttl, L.now + ttl
    if margin < L.bound then L.bound = margin end
    local record = lease.of or lease
    record.is_changed = true
  end

  -- Serving. --------------------------------------------------------------------------------------------

  -- The most tickets that one call ends, forgets, passes over or grants.
  L.work, L.backlog, L.notifications = 128, false, {}
  L.NOBODY = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
  -- Why tickets are over.
  L.RELEASED, L.CANCELLED, L.EXPIRED, L.EVICTED, L.TOO_MANY, L.ATTACHED = 0, 1, 2, 3, 4, 5

  function L.has_work()
    if L.work == 0 then
      L.backlog = true
      return false
    end
    L.work = L.work - 1
    return true
  end

  -- Notifies the client of a record about a ticket. A later answer of this call about the ticket
  -- takes its notifications back, because they would only repeat it.
  function L.notify(row, what)
    if row.record.inbox == L.NOBODY then return end
    L.notifications[#L.notifications + 1] =
      { ticket = L.ticket_of(row), inbox = row.record.inbox, what = what }
  end

  function L.take_back(ticket)
    for i = #L.notifications, 1, -1 do
      if L.notifications[i].ticket == ticket then table.remove(L.notifications, i) end
    end
  end

  -- What is remembered of a series (rule 9). -------------------------------------------------------

  -- No ticket of the series up to this number is granted from now on, for a time.
  function L.remember(record, number, ttl)
    if number > record.last then record.last = number end
    record.till = math.max(record.till, L.clock + ttl)
    if ttl == 0 then L.must_forget = true end
    if record.till > L.remembered then L.remembered = record.till end
    record.is_changed = true
  end

  -- Notes why a ticket is over. A release is not noted, because it is the default.
  function L.note_reason(record, number, reason)
    local before, after, count = '', '', 0
    for at = 1, #record.reasons, 5 do
      local other = struct.unpack('<I4', record.reasons, at)
      local text = string.sub(record.reasons, at, at + 4)
      if other ~= number then count = count + 1 end
      if other < number then before = before .. text elseif other > number then after = after .. text end
    end
    if reason ~= L.RELEASED then before, count = before .. struct.pack('<I4B', number, reason), count + 1 end
    record.reasons, record.is_changed = before .. after, true
    if count > 64 then record.reasons = string.sub(record.reasons, 6) end
  end

  -- Gives why a ticket that neither holds nor waits is over, or nil if it may still come.
  function L.reason_of(record, number)
    if not record or record.till == 0 then return nil end
    for at = 1, #record.reasons, 5 do
      local other, reason = struct.unpack('<I4B', record.reasons, at)
      if other == number then return reason end
    end
    return number <= record.last and L.RELEASED or nil
  end

  -- Slots: ranges as text, eight bytes each. ---------------------------------------------------------

  function L.slots_of(row)
    return row.slots or struct.pack('<I4I4', row.slot, row.slot + row.permits - 1)
  end

  -- Stores slots in a row. Most rows have one range, which needs no room of its own.
  function L.set_slots(row, slots)
    row.slot, row.slots = struct.unpack('<I4', slots), #slots > 8 and slots or false
  end

  function L.clear_free_slots()
    if L.top > 0 then
      redis.call('zremrangebylex', L.order, '[f', '(g')
      L.progress.has_written, L.top = true, 0
    end
  end

  function L.free_slots(slots)
    for at = 1, #slots, 8 do
      local first, last = struct.unpack('<I4I4', slots, at)
      if last + 1 == L.top then
        L.top = first
      else
        L.add(struct.pack('>c1I8I8', 'f', first, last))
      end
    end
  end

  -- Takes the lowest free slots.
  function L.take_slots(permits)
    local slots, from, to, taken = '', nil, nil, 0
    while permits > 0 do
      -- Free slots below the top are in the order. There are none if all below it are held.
      local free = L.held + taken < L.top
        and redis.call('zrangebylex', L.order, '[f', '(g', 'limit', '0', '1')[1]
      local first, last = L.top, L.top + permits - 1
      if free then
        local _, low, high = struct.unpack('>c1I8I8', free)
        first, last = low, math.min(high, low + permits - 1)
        L.remove(free)
        if last < high then L.add(struct.pack('>c1I8I8', 'f', last + 1, high)) end
      else
        L.top = last + 1
      end
      permits, taken = permits - (last - first + 1), taken + last - first + 1
      if to and first == to + 1 then
        to = last
      else
        if to then slots = slots .. struct.pack('<I4I4', from, to) end
        from, to = first, last
      end
    end
    return slots .. struct.pack('<I4I4', from, to)
  end

  -- Takes permits with a new fence: these slots, or the lowest free ones.
  function L.hold(row, slots)
    if L.held == 0 then L.clear_free_slots() end
    if slots then L.take_these(slots) else slots = L.take_slots(row.permits) end
    L.set_slots(row, slots)
    L.held, L.holders, L.fence = L.held + row.permits, L.holders + 1, math.max(L.fence + 1, L.now)
    row.waits, row.fence = false, L.fence
  end

  -- Splits ranges into the rest and those that other ranges have, too.
  function L.split_slots(slots, some)
    local kept, taken, count = {}, {}, 0
    for i = 1, #slots, 8 do
      local at, last = struct.unpack('<I4I4', slots, i)
      for j = 1, #some, 8 do
        local f, l = struct.unpack('<I4I4', some, j)
        f, l = math.max(f, at), math.min(l, last)
        if f <= l then
          if at < f then kept[#kept + 1] = struct.pack('<I4I4', at, f - 1) end
          taken[#taken + 1], count, at = struct.pack('<I4I4', f, l), count + l - f + 1, l + 1
        end
      end
      if at <= last then kept[#kept + 1] = struct.pack('<I4I4', at, last) end
    end
    return table.concat(kept), table.concat(taken), count
  end

  -- Leaving. ---------------------------------------------------------------------------------------

  function L.place_of(row)
    return struct.pack('>c1I8c12I4', row.is_passed_over and 'k' or 'q', row.rank + 1000000000, row.series, row.number)
  end

  -- Takes a ticket out of everything that has it.
  function L.leave(row)
    L.take_out(row)
    L.part(row)
    if row.waits then
      L.remove(L.place_of(row))
      L.waiting = L.waiting - 1
      return
    end
    L.held, L.holders = L.held - row.permits, L.holders - 1
    if L.held == 0 then
      L.clear_free_slots()
    else
      L.free_slots(L.slots_of(row))
    end
  end

  -- Remembers that a ticket which held or waited is over.
  function L.close(row, reason)
    local home = L.make_record(L.home_of(row.series))
    L.remember(home, row.number, row.ttl)
    L.note_reason(home, row.number, reason)
  end

  -- Ends a ticket. A waiter that has only run out is not remembered: it may ask again with the same
  -- ticket, and then stands at the end.
  function L.end_ticket(row, reason)
    L.leave(row)
    if not row.waits or reason ~= L.EXPIRED then
      L.close(row, reason)
      L.notify(row, 'e' .. string.char(reason))
    end
  end

  -- The limit and the kind that callers stated end with the last holder and waiter (rule 11).
  function L.drop_terms()
    if L.held + L.waiting > 0 then return end
    L.is_stated = false
    if not L.is_pinned then L.limit, L.kind = 1, 0 end
  end

  -- The order of service. --------------------------------------------------------------------------

  function L.admits()
    if L.is_paused or not L.guard then return not L.is_paused end
    local left, refusal = L.guard(L.now)
    if refusal then error({ refusal = refusal }, 0) end
    return left == 0
  end

  -- Gives the first waiter that is not passed over, as the order lists it.
  function L.first_place()
    return L.waiting > 0 and redis.call('zrangebylex', L.order, '[q', '(r', 'limit', '0', '1')[1]
  end

  function L.first_waiter()
    local member = L.first_place()
    if not member then return nil end
    local _, _, series, number = struct.unpack('>c1I8c12I4', member)
    local row = L.find(series, number)
    if not row or not row.waits then L.damaged('a waiter that is listed is not there') end
    return row
  end

  -- Whether a waiter cannot be served at all, and then what becomes of it.
  function L.unfit(row)
    if row.permits > L.limit then return 'end' end
    if row.record.inbox ~= L.NOBODY and not L.is_there(row.record.inbox) then return 'pass' end
  end

  -- Ends a waiter that could never be served, or takes one that cannot be reached out of the order of
  -- service until its client is heard from.
  function L.pass_over(row, what)
    if what == 'end' then return L.end_ticket(row, L.TOO_MANY) end
    L.remove(L.place_of(row))
    row.is_passed_over = true
    row.record.waiting.passed_over = row.record.waiting.passed_over + 1
    L.add(L.place_of(row))
    L.touch(row)
  end

  -- Makes a waiter a holder. It has not been heard from since it last renewed its place, so a lease
  -- that is made for it ends no later than the place would have (rule 8).
  function L.grant_waiter(row, slots)
    local record, waiting = row.record, row.record.waiting
    L.remove(L.place_of(row))
    L.part(row)
    L.waiting = L.waiting - 1
    L.hold(row, slots)
    L.join(row, row.ttl, row.margin)
    if record.members == 1 then
      record.ends, record.ends_wall = math.min(record.ends, waiting.ends), math.min(record.ends_wall, waiting.ends_wall)
    end
    L.touch(row)
    L.remember(record, row.number, row.ttl)
    L.notify(row, 'g' .. struct.pack('<dI4I2', row.fence, L.limit, #L.slots_of(row) / 8) .. L.slots_of(row))
  end

  -- Grants to the waiters in their order, for as long as permits suffice (rules 5 and 8).
  function L.serve()
    if L.waiting == 0 or L.held >= L.limit or not L.admits() then return end
    if L.is_named then return L.serve_named() end
    while L.waiting > 0 and L.held < L.limit do
      local row = L.first_waiter()
      if not row then return end
      local unfit = L.unfit(row)
      if not unfit and row.permits > L.limit - L.held or not L.has_work() then return end
      if unfit then L.pass_over(row, unfit) else L.grant_waiter(row) end
    end
  end

  function L.expire_and_grant()
    if L.expire then L.expire() end
    L.serve()
  end

  -- The end of a call. -------------------------------------------------------------------------------

  -- Gives when the first lease ends, or a later time if that is more than the bound away. The bounds
  -- in the order may be too early, so those that come within that time are looked at.
  function L.first_end()
    local first = 2 ^ 53
    local function look_at(record)
      if record and record.members > 0 then first = math.min(first, record.ends - L.clock) end
      if record and record.waiting then first = math.min(first, record.waiting.ends - L.clock) end
    end
    for _, record in pairs(L.records) do look_at(record) end
    if L.due - L.steady >= math.min(first, L.bound) then return first end
    for _, member in ipairs(redis.call('zrangebylex', L.order, '[e', '(f', 'limit', '0', '65')) do
      local _, bound, id = struct.unpack('>c1I8c16', member)
      if bound - L.steady >= math.min(first, L.bound) then break end
      look_at(L.record_of(id))
    end
    return first
  end

  -- Gives after how long the sender should look again, or -1 if the next waiter is not the sender's.
  function L.look_in()
    local place = L.asker ~= L.NOBODY and L.first_place()
    if not place or string.sub(place, 10, 17) ~= string.sub(L.asker, 1, 8) then return -1 end
    local first, guarded = L.first_end(), L.guard and L.guard(L.now) or 0
    if guarded > 0 then first = math.min(first, guarded) end
    return math.max(math.min(first, L.bound), 1)
  end

  -- The keys outlive every lease by half a day or more, so that no smaller step of the clock ends one.
  -- A name that is not in use goes with what it remembers, unless it is used often: then its keys keep
  -- their expiry. What an operator has set stays.
  function L.expiry(is_idle)
    if L.is_pinned or L.is_paused then
      local had = L.deadline > 0
      L.deadline = 0
      return had and 'never'
    end
    local need, most, left = 3 * 43200000000, 2 ^ 53, L.deadline - L.now
    if is_idle then
      need = math.max(L.remembered - L.clock, 0)
      if L.fence >= L.now and L.fence <= L.now + 2 * 43200000000 then need = math.max(need, L.fence - L.now + 1) end
      if L.uses < 16 then most = need + 43200000000 end
    end
    if left >= need and left <= most and L.deadline > 0 then return nil end
    L.uses = math.min(L.uses + 1, 16)
    L.deadline = L.now + need + (is_idle and 1000000 or 43200000000)
    return string.format('%d', math.floor((L.deadline - L.now) / 1000))
  end

  function L.write_header()
    local trailer = ''
    if L.waiting > 0 or L.shift > 0 or L.arrival >= L.clock then
      trailer = struct.pack('<dd', L.shift, L.arrival) .. (L.waiting > 0 and (L.first_place() or '-') or '')
    end
    local flags = (L.is_paused and 1 or 0) + (L.is_pinned and 2 or 0) + (L.is_stated and 4 or 0)
      + (L.is_named and 8 or 0)
    return struct.pack(HEAD, L.version, L.kind, flags, L.uses, L.limit, L.held, L.holders, L.waiting, L.top,
      L.clock, L.now, L.fence, L.bound, L.due, L.deadline, L.remembered, L.noted) .. trailer
  end

  function L.write(is_idle)
    local fields, gone = { 'h', '' }, {}
    L.collect(fields, gone)
    if is_idle and not (L.is_pinned or L.is_paused) and #fields == 2
        and (L.is_new or not (L.fence >= L.now and L.fence <= L.now + 2 * 43200000000)) then
      -- This call leaves no record. There may be others, which it has not read.
      if #gone > 0 and not L.is_new then
        redis.call('hdel', L.key, (unpack or table.unpack)(gone))
        L.progress.has_written, gone = true, {}
      end
      if L.is_new or redis.call('hlen', L.key) - L.extra_fields() <= 1 then
        if not L.is_new or L.progress.has_written then redis.call('unlink', L.key, L.order) end
        return
      end
    end
    local expires = L.expiry(is_idle)
    for name, value in pairs(L.settings) do
      if value == '' then
        gone[#gone + 1] = name
      else
        fields[#fields + 1], fields[#fields + 2] = name, value
      end
    end
    if L.is_sharded and L.is_new then
      L.home = redis.call('cluster', 'myid') .. ' 0'
      L.add('z')
    end
    if L.home then fields[#fields + 1], fields[#fields + 2] = 'm', L.home end
    fields[2] = L.write_header()
    local unpack = unpack or table.unpack
    for from = 1, #fields, 1000 do
      L.write_first('hset', L.key, unpack(fields, from, math.min(from + 999, #fields)))
    end
    for from = 1, #gone, 1000 do redis.call('hdel', L.key, unpack(gone, from, math.min(from + 999, #gone))) end
    if expires == 'never' then
      redis.call('persist', L.key)
      redis.call('persist', L.order)
    elseif expires then
      redis.call('pexpire', L.key, expires)
      redis.call('pexpire', L.order, expires)
    elseif L.is_order_new and L.deadline > 0 then
      redis.call('pexpire', L.order, string.format('%d', math.max(math.floor((L.deadline - L.now) / 1000), 1)))
    end
  end

  -- Fields of the hash besides the header and the records.
  function L.extra_fields()
    local fields, count = redis.call('hmget', L.key, 's', 'p', 'n', 'r', 'm'), 0
    for i = 1, 5 do if fields[i] then count = count + 1 end end
    return count
  end

  -- Ends the call: forgets, writes, notifies. Gives the start of the answer.
  function L.finish()
    L.take_over()
    if L.must_forget and not L.forget then L.add_rare(L, 'expire') end
    if L.forget then L.forget() end
    local is_idle = L.held + L.waiting == 0
    local look_again = L.look_in()
    if is_idle then
      L.bound = 2 ^ 53
      L.drop_terms()
      L.clear_free_slots()
    end
    L.write(is_idle)
    local publish = L.is_sharded and 'spublish' or 'publish'
    for i = 1, L.earlier and #L.earlier or 0, 2 do redis.pcall(publish, L.earlier[i], L.earlier[i + 1]) end
    for _, each in ipairs(L.notifications) do
      redis.pcall(publish, L.channel_of(each.inbox), each.ticket .. each.what .. L.key)
    end
    return struct.pack('<dd', L.now, L.backlog and -2 or look_again)
  end
end
