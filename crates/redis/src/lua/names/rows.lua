-- What people read of a name: its totals and its rows. admin.lua and read.lua use it.

local function add_rows(L)
  local pack, read = struct.pack, struct.unpack

  local function text(value)
    return pack('<I2', #value) .. value
  end

  -- The kind, flags, limit, the limit that callers stated, permits held, waiters, how long the last holds
  -- took, for how long the restart guard lasts, the reason of a pause, the names of the slots.
  function L.totals()
    local found = redis.call('hmget', L.key, 's', 'p', 'n', 'r')
    local stated = L.is_stated and (L.is_pinned and found[1] and read('<I4', found[1]) or L.limit) or 0
    local flags = (L.is_paused and 1 or 0) + (L.is_pinned and 2 or 0) + (L.is_stated and 4 or 0)
      + (L.is_named and 8 or 0)
    return pack('<BBI4I4I4I4dd', L.kind, flags, L.limit, stated, L.held, L.waiting,
      found[4] and read('<d', found[4]) or 0, L.guard and L.guard(L.now) or 0)
      .. text(L.is_paused and found[2] or '') .. text(L.is_named and found[3] or '')
  end

  -- A row: its ticket, a letter, and
  --   h  fence, for how long it has been held, for how long its lease is valid, slots
  --   w  permits, rank, priority, for how long it has waited, 1 if it is passed over, the slots it wants
  -- and what the client says of itself.
  function L.row_told(row)
    local slots = row.waits and (row.slots or '') or L.slots_of(row)
    local told
    if row.waits then
      local arrival = row.rank + row.priority * 10000000
      told = pack('<c1I4dbdB', 'w', row.permits, row.rank, row.priority, math.max(L.clock - arrival, 0),
        row.is_passed_over and 1 or 0)
    else
      told = pack('<c1ddd', 'h', row.fence, math.max(L.now - row.fence, 0),
        math.max(row.record.ends - L.clock, 0))
    end
    return L.ticket_of(row) .. told .. pack('<I2', #slots / 8) .. slots .. text(row.about)
  end

  -- Gives the totals, and the rows of some records, in no order. The cursor of the answer leads to the next
  -- page; 0 ends. A row may come twice if the name changes between two pages.
  function L.page(cursor, count)
    local found = redis.call('hscan', L.key, cursor, 'count', string.format('%d', count))
    local rows = {}
    for at = 1, #found[2], 2 do
      local field, value = found[2][at], found[2][at + 1]
      if #field == 16 then
        for _, row in ipairs(L.rows_of(L.read_record(field, value))) do
          if not row.is_elsewhere then rows[#rows + 1] = L.row_told(row) end
        end
      end
    end
    return '\21' .. L.totals() .. text(found[1]) .. pack('<I2', #rows) .. table.concat(rows)
  end
end
