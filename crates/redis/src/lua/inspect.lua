-- inspect: reads everything about the name. It settles first, so it never shows a row that has
-- expired.
-- keys   records order
-- args   rows
-- reply  snapshot
-- cost   one HGET for each row and one for its lease
--
-- A snapshot is a list: the totals, the names of the slots if they have names, a row for each
-- holder, and a row for each waiter, parked ones last.

function ledger.rows_of(band, above, rows)
  if rows <= 0 then return {} end
  ledger.flush()
  if band == 'g' then return ledger.holders_listed(rows) end
  if head.waiting == 0 then return {} end
  return call('zrangebylex', order, '[' .. band, '(' .. above, 'limit', '0', format('%d', rows))
end

function ledger.holder_row(entry)
  local lease = ledger.lease_of(entry.lease)
  local left = max((lease and lease.ends or 0) - head.clock, 0)
  return format('holder %s %d %s %d %d ', entry.ticket, entry.fence, entry.slots,
    max(now - entry.since, 0), left) .. entry.about
end

function ledger.add_rows(answer, members, row)
  for _, member in ipairs(members) do
    local entry = ledger.entry_of(sub(member, 10))
    if not entry then ledger.corrupt('a ticket that is listed is not there') end
    answer[#answer + 1] = row(entry)
  end
end

function ledger.inspect(rows)
  ledger.drop_terms()
  local answer = { 'snapshot ' .. totals_row(head.kind, ledger.limit_now(), head.stated,
    head.pinned, head.held, head.holders, head.waiting, head.recent, head.paused) }
  if head.names then answer[2] = 'names ' .. head.names end
  ledger.add_rows(answer, ledger.rows_of('g', 'h', rows), ledger.holder_row)
  local waiters = ledger.rows_of('q', 'r', rows)
  ledger.add_rows(answer, waiters, waiter_row)
  ledger.add_rows(answer, ledger.rows_of('k', 'l', rows - #waiters), waiter_row)
  return answer
end

ledger.operations.inspect = function(text)
  local rows = ledger.number(text, 0, 4294967295, 'rows')
  return function() return ledger.inspect(rows) end
end
