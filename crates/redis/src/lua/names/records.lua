-- Header, records and order as tables, for everything that is not on the straight path of hot.lua.
-- All is in one table, `L`: the header's fields, what the call knows, and these functions. The
-- functions are made only where a call needs them, because making one costs as much as ten steps.

local function add_records(L, RECORD, RECORD_SIZE, ROW, ROW_SIZE)

  function L.refuse(code, what)
    error({ refusal = code .. ' ' .. what }, 0)
  end

  function L.damaged(what)
    L.refuse('SEINPAALCORRUPT', what)
  end

  -- Turns an error that a script or Redis raised into an answer. A script that was ended by an error cannot
  -- take back its writes, and then the state may be torn.
  function L.refusal_of(raised)
    local text = type(raised) == 'table' and (raised.refusal or raised.err) or tostring(raised)
    text = string.gsub(text, '[\r\n]', ' ')
    if string.find(text, 'OOM', 1, true) then text = 'SEINPAALOOM the server has no memory left' end
    if string.find(text, 'WRONGTYPE', 1, true) then text = 'SEINPAALCORRUPT the key has another type' end
    if string.find(text, 'data string too short', 1, true) then
      text = 'SEINPAALCORRUPT a value ends too early'
    end
    if L.progress.has_written then
      text = string.gsub(text, '^SEINPAALCORRUPT', 'SEINPAALTORN')
      if string.sub(text, 1, 8) ~= 'SEINPAAL' then text = 'SEINPAALTORN ' .. text end
    elseif string.sub(text, 1, 8) ~= 'SEINPAAL' then
      text = string.match(text, '^%-?(%u%u+ .*)$') or string.match(text, '%-(%u%u+ .*)$')
        or 'SEINPAALFAILED ' .. text
    end
    return text
  end

  -- Writes what the straight path has left to be written, and does one thing.
  function L.run(task, argument, at, to, stated_below, free, adds, removes)
    if stated_below then L.settings.s = struct.pack('<I4', stated_below) end
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
      members = 0, listed = 0, about = '', reasons = '', waiting = false, grace = 0,
      rows = '', list = nil, is_changed = false,
    }
  end

  function L.read_record(id, text)
    if #text < RECORD_SIZE then L.damaged('a record is too short') end
    local it, flags, about, reasons, at = { id = id, is_changed = false }
    it.inbox, it.ends, it.ends_wall, it.ttl, it.last, it.till, it.digest, it.members, it.listed, flags,
      about, reasons, at = struct.unpack(RECORD, text)
    it.grace, it.waiting = 0, false
    it.about = string.sub(text, at, at + about - 1)
    at = at + about
    it.reasons = string.sub(text, at, at + reasons - 1)
    at = at + reasons
    if flags % 2 == 1 then
      local w = { of = it }
      w.ends, w.ends_wall, w.digest, w.members, w.passed_over, at = struct.unpack('<dddBB', text, at)
      it.waiting = w
    end
    if flags >= 2 then it.grace, at = struct.unpack('<d', text, at) end
    if flags > 3 or at > #text + 1 or reasons % 5 > 0 then L.damaged('a record cannot be read') end
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
        if text == nil then text = redis.call('hget', L.key, 'l' .. id) end
        it = text and L.read_record(id, text)
      end
      L.records[id] = it
    end
    return it
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
    if waiting then
      flags, more = 1, struct.pack('<dddBB', waiting.ends, waiting.ends_wall, waiting.digest, waiting.members,
        waiting.passed_over)
    end
    if record.grace > L.now then flags, more = flags + 2, more .. struct.pack('<d', record.grace) end
    return struct.pack(RECORD, record.inbox, record.ends, record.ends_wall, record.ttl, record.last, record.till,
      record.digest, record.members, record.listed, flags, #record.about, #record.reasons)
      .. record.about .. record.reasons .. more .. L.write_rows(record)
  end

  function L.is_empty(record)
    return record.members == 0 and not record.waiting and record.till == 0
      and (record.list and #record.list or #record.rows) == 0
  end

  -- Whether a ticket of the series of this record holds, here or under another lease.
  function L.is_open(record)
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
          gone[#gone + 1] = 'l' .. id
        else
          L.list(record)
          fields[#fields + 1] = 'l' .. id
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
end
