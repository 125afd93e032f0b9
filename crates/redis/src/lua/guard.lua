-- guard: only with restart-guard: for how long a server that may have lost its memory admits nobody.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- error  SEINPAALGUARD SEINPAALCORRUPT
-- cost   one GET and one INFO, if over has not proved all; one INFO more if the replication ID is new, or while guarded, and
--        one SET
--
-- The marker: the replication ID as INFO says it; which incarnation of which server wrote it; for how long it is guarded
-- yet, and when that was. run_id is new with every start, master_replid2 with every promotion; of each, the first half is kept. What has passed is counted as the
-- ledger's clock does, at most a fifth of the guard a call: a step of the server's clock cannot end it.
-- GUARD_LENGTH is a number of microseconds.
if not is_guard_over then
  local kept, replication = try('get', KEYS[3]), try('info', 'replication')
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
    -- Without memory it cannot be written. Then the time does not count, and the guard lasts.
    if not is_known or left + 0 > 0 or seen ~= replid then
      try('set', KEYS[3],
        format('master_replid:%s/%s %d %d', replid, incarnation, guarded_for, now))
    end
  end
end
