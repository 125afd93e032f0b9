-- inspect: reads the totals of the queue, its items in work, and its groups. It changes nothing.
-- keys   records order
-- args   inspect: rows
-- reply  snapshot
-- error  SEINPAALARGUMENT
-- cost   one ZRANGEBYLEX for each kind of row and one HGET for each row

function ledger.limit_or_dash(limit)
  return limit and format('%d', limit) or '-'
end

function ledger.work_row(item)
  return format('work %d %d %d %d %d %s %d ', item.number, item.fence, item.attempt,
    max(now - item.since, 0), max(item.ends - head.clock, 0), item.by, #item.group) .. item.group
    .. item.worked_about
end

function ledger.listed_item(member)
  return ledger.item_of(read(NUMBER, member, #member - 7))
    or ledger.corrupt('an item that is listed is not there')
end

function ledger.snapshot(rows)
  local oldest, next_due = ledger.first_item('o'), ledger.first_item('d')
  local answer = { format('snapshot %s %s %d %d %d %d %d %s %s %s',
    ledger.limit_or_dash(head.limit), ledger.limit_or_dash(head.group_limit),
    head.ready, head.delayed, head.in_work, head.dead, head.idle + head.called,
    oldest and format('%d', max(now - oldest.pushed, 0)) or '-',
    next_due and format('%d', max(next_due.at - now, 0)) or '-',
    head.paused and ':' .. head.paused or '-') }
  if rows == 0 then return answer end
  for _, member in ipairs(ledger.members('e', '', format('%d', rows))) do
    answer[#answer + 1] = ledger.work_row(ledger.listed_item(member))
  end
  for _, member in ipairs(ledger.members('c', '', format('%d', rows))) do
    local group = ledger.group_of(sub(member, 2))
    answer[#answer + 1] = format('group %d %d ', group.in_work, group.ready) .. group.name
  end
  return answer
end

function ledger.operations.inspect(text)
  local rows = ledger.number(text, 0, 4294967295, 'the number of rows')
  return function() return ledger.snapshot(rows), 'left' end
end
