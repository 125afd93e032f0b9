-- The restart guard: finds out for how long a server that may have lost its memory admits nobody.
-- With the option, the last key is the marker, and the last argument the length of the guard in
-- microseconds. Only a request that may grant asks.
--
-- The field m of the marker has the line of the replication ID from INFO, then the start of the
-- server that wrote it, the time that the guard still lasts, and when that time was counted. run_id
-- is new with every start and master_replid2 with every promotion; the marker keeps the first half
-- of each. The field o has that line alone once the guard is over. If INFO still has this line,
-- nothing has been forgotten since. The ID also changes for other reasons, and then INFO is asked
-- for more.
--
-- As with the ledger's clock, a call counts at most a fifth of the guard as passed, so that a step
-- of the server's clock cannot end it.

-- How many names the call is about.
local names, guard = #KEYS / 2, nil
if names % 1 > 0 then
  names = names - 0.5
  local marker, length = KEYS[#KEYS], tonumber(ARGV[#ARGV])
  local known_left, known_refusal

  local function line_of(told, what)
    return type(told) == 'string' and string.match(told, '\n' .. what .. ':(%x+)') or nil
  end

  local function count_down(now, replication)
    local kept = redis.pcall('hget', marker, 'm')
    if type(kept) == 'table' then
      return 1, 'SEINPAALCORRUPT the key of the guard is somebody else\'s'
    end
    local replid, promotion = line_of(replication, 'master_replid'), line_of(replication, 'master_replid2')
    local seen, known, left, wall = string.match(kept or '', '^master_replid:([%x-]+)/(%x+) (%d+) (%d+)$')
    if replid and seen == replid and left == '0' then return 0 end
    local run_id = line_of(redis.pcall('info', 'server'), 'run_id')
    if not run_id or not promotion then
      return 1, 'SEINPAALGUARD INFO does not say run_id and master_replid2'
    end
    replid = replid or string.rep('-', 32)
    local incarnation = string.sub(run_id, 1, 20) .. string.sub(promotion, 1, 20)
    if known ~= incarnation then left, wall = length, now end
    local passed = math.min(math.max(now - wall, 0), math.floor(length / 5))
    local still = math.max(left - passed, 0)
    -- A server without free memory refuses the write. Then the time that has passed does not count,
    -- and the guard lasts longer.
    if known ~= incarnation or left + 0 > 0 or seen ~= replid then
      local line = 'master_replid:' .. replid
      redis.pcall('hset', marker, 'm', string.format('%s/%s %.0f %.0f', line, incarnation, still, now),
        'o', still == 0 and line or '')
    end
    return still
  end

  -- Gives the microseconds that are left, and the refusal if that cannot be found out.
  function guard(now)
    if not known_left then
      local over, replication = redis.pcall('hget', marker, 'o'), redis.pcall('info', 'replication')
      if type(over) == 'string' and #over >= 54 and type(replication) == 'string'
          and string.find(replication, over, 1, true) then
        known_left = 0
      else
        known_left, known_refusal = count_down(now, replication)
      end
    end
    return known_left, known_refusal
  end
end
