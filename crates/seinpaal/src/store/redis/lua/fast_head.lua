-- fast_head: the second quarter of a fast path: the head of a name in a plain state.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing
-- cost   nothing; one EXISTS for a new name
--
-- When a name is in a plain state, a fast path does what the full script would do, without making a single
-- function: a hundred of them are most of what the full script costs. So a fast path is one block, in four
-- pieces: what is asked, the head, what is done, and the end, which writes. Whatever is not plain breaks out
-- of the block before anything is written, and the full script begins anew.

  if guarded_for > 0 then break end
  local text = found[1]
  local version, kind, paused, stated, pinned, clock, wall, bound, fence, held, holders, waiting, past, arrival, top,
    first_end, first_wall, first_past, longest, memory, deadline
  if text then
    if #text ~= HEAD_SIZE then break end
    version, kind, paused, stated, pinned, clock, wall, bound, fence, held, holders, waiting, past, arrival, top,
      first_end, first_wall, first_past, longest, memory, deadline = read(HEAD, text)
  elseif try('exists', records, order) == 0 then
    version, kind, paused, stated, pinned, clock, wall, bound, fence, held, holders, waiting, past, arrival, top,
      first_end, first_wall, first_past, longest, memory, deadline = VERSION, '-', '0', -1, -1, 0, 0, UNBOUNDED, 0, 0, 0,
      0, 0, 0, 0, UNBOUNDED, UNBOUNDED, UNBOUNDED, 0, 0, 0
  end
  local seen = match(fence_seen, '^%d+$')
  if version ~= VERSION or paused ~= '0' or (pinned >= 0 and deadline > 0) then break end
  if not now or not seen or seen + 0 > MOST_FENCE_SEEN then break end
  if asker ~= '' and (#asker ~= 32 or not match(asker, '^%x+$') or lower(asker) ~= asker) then break end
  clock, wall, fence = clock + min(max(now - wall, 0), bound), now, max(fence, seen + 0)
  -- Nothing has run out, and nobody who waits could be served.
  if holders + waiting > 0 and (first_end <= clock or first_wall <= now) then break end
  local limit = pinned >= 0 and pinned or stated >= 0 and stated or 1
  if waiting > 0 and held < limit then break end
  local inbox, set, del, add, remove = asker ~= '' and asker or NOBODY, {}, {}, {}, {}
  local is_growth, is_idle, newest, work, channel, message = false, false, UNBOUNDED, WORK, nil, nil
