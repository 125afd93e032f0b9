-- inspect: read everything about the name. It settles first, so it never shows what has run out.
-- keys   records order
-- args   rows
-- reply  snapshot
-- cost   one HGET a row and one for its lease
--
-- A snapshot is a list: the totals, a row a holder, a row a waiter.

local function rows_of(band, above, rows)
  if rows <= 0 then return {} end
  flush()
  return call('zrangebylex', order, '[' .. band, '(' .. above, 'limit', '0', format('%d', rows))
end

local function holder_row(entry)
  local lease = lease_of(entry.lease)
  local left = max((lease and lease.ends or 0) - head.clock, 0)
  return format('holder %s %d %s %d %d ', entry.ticket, entry.fence, entry.slots, max(now - entry.since, 0), left)
    .. entry.about
end

local function waiter_row(entry)
  return format('waiter %s %d %d %d %s ', entry.ticket, entry.permits, entry.priority, max(now - entry.since, 0),
    entry.parked) .. entry.about
end

local function add_rows(answer, members, row)
  for _, member in ipairs(members) do
    local entry = entry_of(sub(member, 18))
    if not entry then corrupt('a ticket that is listed is not there') end
    answer[#answer + 1] = row(entry)
  end
end

local function inspect(rows)
  local answer = { format('snapshot %d %s %d %d %d %s', limit_now(), head.pinned, head.held, head.holders,
    head.waiting, head.paused and '1' .. head.paused or '0') }
  add_rows(answer, rows_of('g', 'h', rows), holder_row)
  local waiters = rows_of('q', 'r', rows)
  add_rows(answer, waiters, waiter_row)
  add_rows(answer, rows_of('k', 'l', rows - #waiters), waiter_row)
  return answer
end

operations.inspect = function(text)
  local rows = number(text, 0, 4294967295, 'rows')
  return function() return inspect(rows) end
end
