-- guard: only with restart-guard: for how long a server that may have lost its memory admits nobody.
-- keys   records order marker
-- args   those of the script, and the length of the guard, which is taken off here
-- reply  nothing
-- error  SEINPAALGUARD SEINPAALCORRUPT
-- cost   one GET and two INFO; while guarded, one SET
--
-- The marker: which incarnation of which server wrote it, for how long it is guarded yet, and when that was.
-- run_id is new with every start, master_replid2 with every promotion. What has passed is counted as the
-- ledger's clock does, at most a fifth of the guard a call: a step of the server's clock cannot end it.
do
  local marker, length = KEYS[3], tonumber(table.remove(ARGV) or '?')
  if not now or not length then return redis.error_reply('SEINPAALARGUMENT the clock or the guard') end
  local server, replication = try('info', 'server'), try('info', 'replication')
  local run_id = type(server) == 'string' and match(server, '\nrun_id:(%x+)')
  local promotion = type(replication) == 'string' and match(replication, '\nmaster_replid2:(%x+)')
  if not run_id or not promotion then return redis.error_reply('SEINPAALGUARD INFO does not say run_id and master_replid2') end
  local kept = try('get', marker)
  if type(kept) == 'table' then return redis.error_reply('SEINPAALCORRUPT the key of the guard is somebody else\'s') end
  local incarnation, known, left, wall = run_id .. promotion, match(kept or '', '^(%x+) (%d+) (%d+)$')
  local is_known = known == incarnation
  if not is_known then left, wall = length, now end
  guarded_for = max(left - min(max(now - wall, 0), floor(length / 5)), 0)
  -- Without memory it cannot be written. Then the time does not count, and the guard lasts.
  if not is_known or left + 0 > 0 then try('set', marker, format('%s %d %d', incarnation, guarded_for, now)) end
end
