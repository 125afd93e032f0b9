-- over: only with restart-guard, before all else: whether the guard is over, for sure and cheaply.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- cost   one GET; one INFO if there is an acquire
--
-- The replication ID is new with every start of a master and with every promotion. One that is still there says that
-- nothing has been forgotten since the marker was written. It is new for other reasons, too; then guard looks on.
-- Without an acquire it is not asked for, because the lean path admits nobody then.

do
  local marker, replication = redis.pcall('get', KEYS[3]), nil
  guard = type(marker) == 'string' and string.find(marker, ' 0 ', 1, true) and 'over' or 'begun'
  for i = 1, guard == 'over' and #ARGV or 0 do
    if string.byte(ARGV[i]) == 1 then
      replication = redis.pcall('info', 'replication')
      if type(replication) ~= 'string' then replication = '' end
      guard = string.find(replication, '\nmaster_replid:' .. string.sub(marker, 1, 40), 1, true) and 'proved' or 'begun'
      break
    end
  end
end
