-- guard: only with restart-guard: for how long a server that may have lost its memory admits nobody.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- error  SEINPAALGUARD SEINPAALCORRUPT
-- cost   one INFO if none was asked before; one more if the replication ID is new, or while guarded, and one SET
--
-- The marker: the replication ID; which incarnation of which server wrote it; for how long it is guarded yet, and when
-- that was. run_id is new with every start, master_replid2 with every promotion. What has passed is counted as the
-- ledger's clock does, at most a fifth of the guard a call: a step of the server's clock cannot end it.
if not (guard.is_over and (guard.replication or guard.remembers_all())) then
  local marker, length, kept = KEYS[3], tonumber(guard.length or '?'), guard.marker
  if not now or not length then return redis.error_reply('SEINPAALARGUMENT the clock or the guard') end
  local replication = guard.replication or try('info', 'replication')
  local told = type(replication) == 'string' and replication or ''
  local replid, promotion = match(told, '\nmaster_replid:(%x+)'), match(told, '\nmaster_replid2:(%x+)')
  local server = try('info', 'server')
  local run_id = type(server) == 'string' and match(server, '\nrun_id:(%x+)')
  if not run_id or not promotion then return redis.error_reply('SEINPAALGUARD INFO does not say run_id and master_replid2') end
  if type(kept) == 'table' then return redis.error_reply('SEINPAALCORRUPT the key of the guard is somebody else\'s') end
  replid = replid and #replid == 40 and replid or NOBODY .. '--------'
  local incarnation = run_id .. promotion
  local seen, known, left, wall = match(kept or '', '^([%x-]+)/(%x+) (%d+) (%d+)$')
  local is_known = known == incarnation
  if not is_known then left, wall = length, now end
  guarded_for = max(left - min(max(now - wall, 0), floor(length / 5)), 0)
  -- Without memory it cannot be written. Then the time does not count, and the guard lasts.
  if not is_known or left + 0 > 0 or seen ~= replid then
    try('set', marker, format('%s/%s %d %d', replid, incarnation, guarded_for, now))
  end
end
