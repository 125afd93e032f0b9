-- guard: a node that may have forgotten leases admits nobody until the last of them has ended.
-- keys   records order marker
-- args   run guard young
-- reply  guard
-- cost   one HMGET; one HSET and PEXPIRE when the server is new to us, one PTTL now and then
--
-- run: which run of the server the asker is connected to. guard: how long to abstain, which no ttl may exceed; 0: not
-- at all. young: `-`, or how long to abstain if there is no marker (all nodes are new), or `look`: only say what is there.
-- The marker (hash) run: the run it was written in  guard: as above  free: when this server may admit again

local marker = KEYS[3]
local DAY = 86400000

ledger.most_requests = 70
ledger.growing = { take = true, set = true, guard = true, state = true }
ledger.guard_left = 0

function ledger.keep_marker(guard)
  local life = max(DAY, floor(guard / 500))
  if call('pttl', marker) < life / 2 then call('pexpire', marker, format('%d', life)) end
end

function ledger.write_marker(run, guard, left)
  call('hset', marker, 'run', run, 'guard', format('%d', guard), 'free', format('%d', now + left))
  ledger.keep_marker(guard)
  return left
end

function ledger.guard(run, guard, young)
  local found = call('hmget', marker, 'run', 'guard', 'free')
  local known, stored, free = found[1], tonumber(found[2] or '0'), tonumber(found[3] or '0')
  if young == 'look' then
    return format('guard %s %d %d', known and (known == run and 'same' or 'other') or 'none', stored, 0)
  end
  if known and stored ~= guard then
    ledger.guard_left = max(free - now, 1)
    return format('guard differs %d %d', stored, ledger.guard_left)
  end
  if guard == 0 then return 'guard off 0 0' end
  if known == run then
    ledger.guard_left = max(free - now, 0)
    ledger.keep_marker(guard)
  elseif not known and young ~= '-' then
    ledger.guard_left = ledger.write_marker(run, guard, young + 0)
  else
    ledger.guard_left = ledger.write_marker(run, guard, guard)
  end
  return format('guard same %d %d', guard, ledger.guard_left)
end

ledger.operations.guard = function(text)
  local run, guard, young = match(text, '^(%S+) (%d+) (%S+)$')
  if not run then ledger.refuse('SEINPAALARGUMENT', 'guard cannot be read') end
  guard = ledger.number(guard, 0, MAX_TTL * 2, 'the guard')
  return function() return ledger.guard(run, guard, young) end
end
