-- over: with restart-guard, proves cheaply that the guard is over, before the lean path writes.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- cost   if a permit may be granted one GETRANGE and one INFO, otherwise nothing
--
-- The replication ID of a master is new with every start and with every promotion. If it is still
-- the one in the marker, nothing has been forgotten since the marker was written. It changes for
-- other reasons, too: then the piece guard looks further.
--
-- A release or a renewal admits nobody, so it does not ask. Once the guard is over, the first 54
-- bytes of a marker are a line of INFO. Each byte of an answer costs, so no more of it is read.
    if about or granted then
      local known = try('getrange', KEYS[3], '0', '53')
      if type(known) ~= 'string' or #known < 54 then break end
      local replication = try('info', 'replication')
      if type(replication) ~= 'string' or not find(replication, known, 1, true) then break end
      is_guard_over = true
    end
