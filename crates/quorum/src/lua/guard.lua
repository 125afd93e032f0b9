-- The restart guard: a node that may have forgotten leases votes for nothing until the last of them
-- has ended.
--
-- The marker of a node is a hash. run: the run of the server that wrote it. guard: the length of
-- the guard. left: how much of it is left. wall: when left was counted. Each call counts at most a
-- fifth of the guard as passed, so that one step of the clock does no harm.

-- For how long this node is still to abstain.
local guard_left = 0

local function write_marker(run, guard, left)
  guard_left = max(left, 0)
  marker_fields =
    { 'run', run, 'guard', words(guard), 'left', words(guard_left), 'wall', words(now) }
end

local function read_marker()
  local found = call('hmget', marker, 'run', 'guard', 'left', 'wall')
  return { run = found[1], guard = tonumber(found[2] or 0), left = tonumber(found[3] or 0),
    wall = tonumber(found[4] or 0) }
end

-- guard GUARD HOW. GUARD is the length of the guard, 0 for none. A ttl may be four fifths of it.
-- HOW is `go`; `new` if no node has a marker; or `look`, which only reads the marker.
local function guard_line(text)
  local guard, how = match(text, '^(%d+) (%a+)$')
  guard = number(guard, 0, MAX_TTL * 2, 'the guard')
  local info = call('info', 'server')
  local run = match(info, 'run_id:(%x+)')
  local uptime = tonumber(match(info, 'uptime_in_seconds:(%d+)') or 0) * SECOND
  local found = read_marker()
  -- A server that hides its run may have been started again at any time, so it always abstains.
  local is_same = run and found.run == run
  run = run or '-'
  if how == 'look' then
    return words('guard', run, found.run and (is_same and 'same' or 'other') or 'none',
      found.guard, 0)
  end
  if found.run and found.guard ~= guard then
    guard_left = max(found.left, 1)
    return words('guard', run, 'differs', found.guard, guard_left)
  end
  if guard > 0 then
    -- In milliseconds: a day, or twice the guard.
    marker_life = max(DAY, guard * 2) / 1000
    if not is_same then
      -- If no node has a marker, the nodes are new to the store. Then this node can have forgotten
      -- only leases from before this run of its server.
      write_marker(run, guard, how == 'new' and not found.run and guard - uptime or guard)
    elseif found.left > 0 then
      local passed = min(max(now - found.wall, 0), floor(guard / 5))
      write_marker(run, guard, found.left - passed)
    end
  end
  return words('guard', run, 'same', guard, guard_left)
end
