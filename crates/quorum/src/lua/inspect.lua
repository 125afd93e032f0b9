-- inspect ROWS: answers with a list: the totals, a row for each vote, and a row for each waiter,
-- parked ones last.

local function vote_row(ticket)
  return words('holder', ticket.id, ticket.fence, slots_text(ticket.slots),
    max(now - ticket.since, 0), left_of(ticket), ticket.about)
end

local function waiter_row(ticket)
  return words('waiter', ticket.id, ticket.permits, ticket.priority, max(now - ticket.since, 0),
    ticket.is_parked and 1 or 0, ticket.about)
end

local function inspect_line(text)
  local rows_left = number(text, 0, MOST_COUNT, 'rows')
  local answer = { words('snapshot', head.kind, limit_now(), head.stated or '-1',
    head.pinned or '-1', head.held, head.holders, head.waiting, guard_left, head.recent,
    head.paused and '1' .. head.paused or '0') }
  for _, member in ipairs(listed('g', rows_left)) do
    answer[#answer + 1] = vote_row(row_of('t', member))
  end
  for _, band in ipairs({ 'q', 'k' }) do
    local members = listed(band, rows_left)
    rows_left = rows_left - #members
    for _, member in ipairs(members) do answer[#answer + 1] = waiter_row(row_of('t', member)) end
  end
  return answer
end
