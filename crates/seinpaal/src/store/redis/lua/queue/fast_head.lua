-- fast_head: the second quarter of the fast path: the head of a queue in a plain state, and the session.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   nothing; one EXISTS for a new queue
--
-- Nothing has run out, nothing has fallen due, nobody is in line, and nobody's time to be forgotten has come.

  local text = found[1]
  local version, limit, group_limit, clock, wall, bound, last, ready, open, delayed, in_work, dead, idle, called, wanted,
    sessions, keys, watch_at, first_end, first_wall, first_due, first_session, first_key, memory, deadline
  if text then
    if #text ~= HEAD_BYTES then break end
    version, limit, group_limit, clock, wall, bound, last, ready, open, delayed, in_work, dead, idle, called, wanted,
      sessions, keys, watch_at, first_end, first_wall, first_due, first_session, first_key, memory, deadline =
      read(HEAD, text)
  elseif try('exists', records, order) == 0 then
    version, limit, group_limit, clock, wall, bound, last, ready, open, delayed, in_work, dead, idle, called, wanted,
      sessions, keys, watch_at, first_end, first_wall, first_due, first_session, first_key, memory, deadline =
      1, -1, -1, 0, 0, UNBOUNDED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UNBOUNDED, UNBOUNDED, UNBOUNDED, UNBOUNDED,
      UNBOUNDED, 0, 0
    if pushes == 0 or SETTLING then break end
  end
  if version ~= 1 or idle + called > 0 then break end
  clock, wall, last = clock + min(max(now - wall, 0), bound), now, max(last, min(seen, MOST_SEEN))
  if in_work > 0 and (first_end <= clock or first_wall <= now) then break end
  if (delayed > 0 and first_due <= now) or (sessions > 0 and first_session < now) or (keys > 0 and first_key <= now) then break end
  local set, del, add, remove, answer, lines = {}, {}, {}, {}, { '' }, {}
  local stands = not_after
  if found[2] then
    if #found[2] < 24 then break end
    local known, _
    known, _, stands = read(SESSION, found[2])
    if number <= known or not_after < stands then break end
  elseif number > 0 then
    sessions, first_session = sessions + 1, min(first_session, not_after)
    add[1], add[2] = '0', 's' .. pack(NUMBER, not_after) .. asker
  end
  if number > 0 and now > not_after then break end
  if number > 0 then memory = max(memory, not_after) end
