-- rows: gives the rows of a snapshot: the totals of a name, and a waiter.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing but time

local function totals_row(kind, limit, stated, pinned, held, holders, waiting, recent, paused)
  return format('%s %d %d %d %d %d %d %d %.0f %s', kind, limit, stated or -1, pinned or -1, held,
    holders, waiting, guarded_for, recent, paused and '1' .. paused or '0')
end

local function waiter_row(entry)
  local kind = entry.wishes and 'wisher ' .. entry.wishes or 'waiter'
  return kind .. format(' %s %d %d %d %s ', entry.ticket, entry.permits, entry.priority,
    max(now - entry.since, 0), entry.parked) .. entry.about
end
