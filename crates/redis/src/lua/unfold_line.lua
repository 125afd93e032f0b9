-- unfold_line: makes the rows of a line, as if it had never been one.
-- keys   records order
-- args   none
-- reply  the head, what stands in each field, and the tickets that wait, in order; the function
--        fails if the text is damaged
-- cost   nothing

local function unfold_line(text)
  local clock, wall, fence, bound, due, deadline, arrival, recent, line_at, waiting, _, places,
    kind, count, holders, ranges, tail, limit, held, top = read(LINE, text, 2)
  local fields, rows, in_line, sessions, tickets = {}, 0, {}, {}, {}
  local past, memory, longest, at = 0, 0, 0, LINE_SIZE + 1 + count * SESSION_SIZE
  local free, causes_at = sub(text, at, at + 8 * ranges - 1), #text - tail + 1
  local places_at = causes_at - places * PLACE_SIZE
  at = at + 8 * ranges
  while at < line_at do
    local of, size, number, permits, slot, ttl, since, its_fence = read(LINE_TICKET, text, at)
    at = at + LINE_TICKET_SIZE + size
    tickets[of] = (tickets[of] or '')
      .. pack(TICKET, number, permits, ttl, since, its_fence, slot, size)
      .. sub(text, at - size, at - 1)
  end
  for k = 1, count do
    local inbox, series, members, digest, last, till, ends, ends_wall, causes =
      read(LINE_SESSION, text, LINE_SIZE + 1 + (k - 1) * SESSION_SIZE)
    sessions[k] = { inbox, series }
    if till > 0 then
      -- A line does not keep the ttl of a lease. The time that the lease has left is enough,
      -- because the keys are needed for no longer.
      local is_held, ttl = members > 0, max(ends - clock, 0)
      fields['r' .. series .. '00000000'] = pack(RECORD, is_held and 3 or 1, last, till,
        members, ttl, ends, ends_wall, members, digest, 0, is_held and inbox or NOBODY, 0, causes)
        .. sub(text, causes_at, causes_at + causes - 1) .. (tickets[k] or '')
      past, rows, memory, longest = past + 1, rows + 1, max(memory, till), max(longest, ttl)
    end
    causes_at = causes_at + causes
  end
  for k = 1, places do
    local of, members, digest, ends, ends_wall, id =
      read(LINE_PLACE, text, places_at + (k - 1) * PLACE_SIZE)
    local place, ttl = id .. '00000000', ends - clock
    sessions[of][3] = place
    fields['r' .. place] = pack(RECORD, 2, 0, 0, 0, ttl, ends, ends_wall, members, digest, 0,
      sessions[of][1], 0, 0)
    rows, longest = rows + 1, max(longest, ttl)
  end
  for k = 1, waiting do
    local of, size, number, permits, ttl, _, rank, since, margin, priority =
      read(LINE_WAITER, text, at)
    local inbox, series, place = unpack(sessions[of])
    local ticket = series .. format('%08x', number)
    at = at + LINE_WAITER_SIZE + size
    fields['t' .. ticket] = pack(WAITER, 'W', '0', place, inbox, permits, ttl, since, rank,
      priority, margin, series .. '00000000') .. sub(text, at - size, at - 1)
    in_line[k] = ticket
  end
  if at ~= places_at then error('the parts are longer than the text, or shorter') end
  return pack(HEAD, VERSION, HEAD_WITH{ kind = string.char(kind), stated = limit, clock = clock,
    wall = wall, passed = wall, bound = bound, fence = fence, due = due, deadline = deadline,
    memory = memory, longest = longest, arrival = arrival, recent = recent, held = held,
    holders = holders, waiting = waiting, past = past, top = top, rows = rows + waiting }, ranges)
    .. free, fields, in_line
end
