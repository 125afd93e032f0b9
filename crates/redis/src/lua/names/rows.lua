-- What people read of a name: its totals and its rows. admin.lua and read.lua use it.

local function add_rows(L)
  local pack, read = struct.pack, struct.unpack

  local function text(value)
    return pack('<I2', #value) .. value
  end

  -- The kind, flags, limit, the limit that callers stated, permits held, holders, waiters, how long the last holds
  -- took, for how long the restart guard lasts, the reason of a pause, the names of the slots.
  function L.totals()
    local found = redis.call('hmget', L.key, 's', 'p', 'n', 'r')
    local stated = L.is_stated and (L.is_pinned and found[1] and read('<I4', found[1]) or L.limit) or 0
    local flags = (L.is_paused and 1 or 0) + (L.is_pinned and 2 or 0) + (L.is_stated and 4 or 0)
      + (L.is_named and 8 or 0)
    return pack('<BBI4I4I4I4I4dd', L.kind, flags, L.limit, stated, L.held, L.holders, L.waiting,
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

  -- Appends the rows of waiters in order, those passed over last: `most` of them, behind the member `after`
  -- of the order, or from the first one if that is ''. Gives the last member.
  function L.list_waiters(rows, most, after)
    if L.waiting == 0 then return after end
    for _, band in ipairs({ 'q', 'k' }) do
      local begun = string.sub(after, 1, 1)
      if band == 'k' or begun ~= 'k' then
        local from = begun == band and '(' .. after or '[' .. band
        local to = band == 'q' and '(r' or '(l'
        local members = most > #rows
          and redis.call('zrangebylex', L.order, from, to, 'limit', '0', string.format('%d', most - #rows)) or {}
        for _, member in ipairs(members) do
          local _, _, series, number = read('>c1I8c12I4', member)
          local row = L.find(series, number)
          if not row or not row.waits then L.damaged('a waiter that is listed is not there') end
          rows[#rows + 1], after = L.row_told(row), member
        end
      end
    end
    return after
  end

  -- Appends the rows of holders, in no order, about as many as are asked for, from a few hundred records. The
  -- cursor goes on where the last page ended. A row may come twice if the name changes between two pages.
  function L.list_holders(rows, most, cursor)
    local seen = 0
    repeat
      local found = redis.call('hscan', L.key, cursor, 'count', '8')
      cursor, seen = found[1], seen + #found[2] / 2
      for at = 1, #found[2], 2 do
        local field, value = found[2][at], found[2][at + 1]
        -- Most records of a crowd have only waiters. The byte says how many tickets hold.
        if #field == 16 and string.byte(value, 61) ~= 0 then
          for _, row in ipairs(L.rows_of(L.read_record(field, value))) do
            if not row.is_elsewhere and not row.waits then rows[#rows + 1] = L.row_told(row) end
          end
        end
      end
    until cursor == '0' or #rows >= most or seen >= 384
    return cursor
  end

  -- Gives the totals and a page of rows: first waiters, as many as are wanted, then holders. A page has
  -- about 96 rows, so that reading a large name blocks nobody. Its cursor, which is '' at first, leads to
  -- the next page, or is 'end'.
  function L.page(cursor, waiters, holders)
    local rows, kind, most = {}, string.sub(cursor, 1, 1), 96
    if kind ~= 'h' then
      cursor = L.list_waiters(rows, math.min(waiters, most), cursor)
      if #rows < math.min(waiters, most) or waiters <= most then kind, cursor = 'h', 'h0' end
    end
    if kind == 'h' and #rows < most then
      cursor = holders > 0 and 'h' .. L.list_holders(rows, math.min(#rows + holders, most), string.sub(cursor, 2))
        or 'h0'
      -- Who asks for a few wants to name one, and does not search the crowd for it.
      if cursor == 'h0' or holders <= 16 then cursor = 'end' end
    end
    return '\21' .. L.totals() .. text(cursor) .. pack('<I2', #rows) .. table.concat(rows)
  end
end
