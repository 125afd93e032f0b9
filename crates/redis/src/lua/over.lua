-- over: only with restart-guard, before the lean path writes: whether the guard is over, for sure and cheaply.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- cost   if a permit is to be granted one GET and one INFO, else nothing
--
-- The replication ID is new with every start of a master and with every promotion. One that is still there says that
-- nothing has been forgotten since the marker was written. It is new for other reasons, too; then guard looks on.
-- A release or a renewal admits nobody, and does not ask. The first 54 bytes of a marker are a line of INFO.
    if about or granted then
      local marker = try('get', KEYS[3])
      if type(marker) ~= 'string' or not string.find(marker, ' 0 ', 1, true) then break end
      local replication = try('info', 'replication')
      if type(replication) ~= 'string' then break end
      if not string.find(replication, sub(marker, 1, 54), 1, true) then break end
      is_guard_over = true
    end
