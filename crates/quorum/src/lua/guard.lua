-- guard: keeps a node that may have forgotten leases from admitting anybody until the last of them
--   has ended.
-- keys   records order marker
-- args   guard how
-- reply  guard
-- cost   one INFO, one HMGET; one HSET while guarded; one PTTL, and PEXPIRE when half of the
--        marker's life is over
--
-- guard: for how long the node is to abstain, 0 for not at all. A ttl may be four fifths of it.
-- how: `go`; `new` if no node has a marker; or `look`, which only reads the marker.
--
-- The marker is a hash. run: the run of the server that wrote it. guard: as above. left: how much
-- of the guard is left. wall: when left was counted. Each call counts at most a fifth of the guard
-- as passed, so that one step of the clock does no harm.

local marker = KEYS[3]
local DAY = 86400000

ledger.most_requests = 140
ledger.growing = { take = true, set = true, guard = true, state = true }
ledger.guard_left = 0

function ledger.keep_marker(guard)
  local life = max(DAY, floor(guard / 500))
  if call('pttl', marker) < life / 2 then call('pexpire', marker, format('%d', life)) end
end

function ledger.write_marker(run, guard, left)
  ledger.guard_left = max(left, 0)
  call('hset', marker, 'run', run, 'guard', format('%d', guard), 'left',
    format('%d', ledger.guard_left), 'wall', format('%d', now))
  ledger.keep_marker(guard)
end

function ledger.read_marker()
  local found = call('hmget', marker, 'run', 'guard', 'left', 'wall')
  return { run = found[1], guard = tonumber(found[2] or 0), left = tonumber(found[3] or 0),
    wall = tonumber(found[4] or 0) }
end

-- If no node has a marker, the nodes are new to the store. Only leases from before the start of
-- this server's run could have been forgotten, so the guard counts from that start.
function ledger.begin_guard(run, guard, is_new, uptime)
  ledger.write_marker(run, guard, is_new and guard - uptime * 1000000 or guard)
end

function ledger.go_on_with(found)
  if found.left == 0 then return ledger.keep_marker(found.guard) end
  local passed = min(max(now - found.wall, 0), floor(found.guard / 5))
  ledger.write_marker(found.run, found.guard, found.left - passed)
end

function ledger.guard(guard, how)
  local info = call('info', 'server')
  local run, uptime = match(info, 'run_id:(%x+)'),
    tonumber(match(info, 'uptime_in_seconds:(%d+)') or 0)
  local found = ledger.read_marker()
  if how == 'look' then
    return format('guard %s %s %d 0', run or '-',
      found.run and (found.run == run and 'same' or 'other') or 'none', found.guard)
  end
  if found.run and found.guard ~= guard then
    ledger.guard_left = max(found.left, 1)
    return format('guard %s differs %d %d', run or '-', found.guard, ledger.guard_left)
  end
  if guard > 0 and found.run == run then
    ledger.go_on_with(found)
  elseif guard > 0 then
    ledger.begin_guard(run or '-', guard, how == 'new' and not found.run, uptime)
  end
  return format('guard %s same %d %d', run or '-', guard, ledger.guard_left)
end

ledger.operations.guard = function(text)
  local guard, how = match(text, '^(%d+) (%a+)$')
  if not guard then ledger.refuse('SEINPAALARGUMENT', 'guard cannot be read') end
  guard = ledger.number(guard, 0, MAX_TTL * 2, 'the guard')
  return function()
    -- The fences of a name that was forgotten were not greater than the clock was then.
    if ledger.is_fresh then head.fence = max(head.fence, now - 1) end
    local answer = ledger.guard(guard, how)
    guarded_for = ledger.guard_left
    return answer
  end
end
