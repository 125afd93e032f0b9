-- over: with restart-guard, proves cheaply that the guard is over, before the lean path writes.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- cost   if a permit may be granted one GET and one INFO, otherwise nothing
--
-- The replication ID of a master is new with every start and with every promotion. If it is still
-- the one in the marker, nothing has been forgotten since the marker was written. It changes for
-- other reasons, too: then the piece guard looks further.
--
-- A release or a renewal admits nobody, so it does not ask. The first 54 bytes of a marker are a
-- line of INFO.
    if about or granted then
      local marker = try('get', KEYS[3])
      if type(marker) ~= 'string' or not find(marker, ' 0 ', 1, true) then break end
      local replication = try('info', 'replication')
      if type(replication) ~= 'string' then break end
      if not find(replication, sub(marker, 1, 54), 1, true) then break end
      is_guard_over = true
    end
