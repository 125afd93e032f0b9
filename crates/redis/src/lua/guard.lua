-- guard: with restart-guard, finds out for how long a server that may have lost its memory admits
--   nobody.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- error  SEINPAALGUARD SEINPAALCORRUPT
-- cost   one HGET and one INFO, unless over has proved that the guard is over; one more INFO if the
--        replication ID is new or the guard lasts, and then one HSET
--
-- The field m of the marker has the line of the replication ID from INFO, then the start of the
-- server that wrote it, the time that the guard still lasts, and when that time was counted. run_id
-- is new with every start and master_replid2 with every promotion; the marker keeps the first half
-- of each. The field o has that line alone once the guard is over, and nothing before. The piece
-- over looks for the line in INFO.
--
-- As with the ledger's clock, a call counts at most a fifth of the guard as passed, so that a step
-- of the server's clock cannot end it. The loader writes a number of microseconds in the place of
-- GUARD_LENGTH.
if not is_guard_over then
  local kept, replication = try('hget', KEYS[3], 'm'), try('info', 'replication')
  if not now then return redis.error_reply('SEINPAALARGUMENT the clock') end
  if type(kept) == 'table' then
    return redis.error_reply('SEINPAALCORRUPT the key of the guard is somebody else\'s')
  end
  local told = type(replication) == 'string' and replication or ''
  local replid, promotion = match(told, '\nmaster_replid:(%x+)'),
    match(told, '\nmaster_replid2:(%x+)')
  local seen, known, left, wall = match(kept or '', '^master_replid:([%x-]+)/(%x+) (%d+) (%d+)$')
  if not replid or seen ~= replid or left ~= '0' then
    local server = try('info', 'server')
    local run_id = type(server) == 'string' and match(server, '\nrun_id:(%x+)')
    if not run_id or not promotion then
      return redis.error_reply('SEINPAALGUARD INFO does not say run_id and master_replid2')
    end
    replid = replid or NOBODY
    local incarnation = sub(run_id, 1, 20) .. sub(promotion, 1, 20)
    local is_known = known == incarnation
    if not is_known then left, wall = GUARD_LENGTH, now end
    guarded_for = max(left - min(max(now - wall, 0), floor(GUARD_LENGTH / 5)), 0)
    -- A server without free memory refuses the write. Then the time that has passed does not count,
    -- and the guard lasts longer.
    if not is_known or left + 0 > 0 or seen ~= replid then
      local line = 'master_replid:' .. replid
      try('hset', KEYS[3], 'm', format('%s/%s %d %d', line, incarnation, guarded_for, now), 'o',
        guarded_for == 0 and line or '')
    end
  end
end
