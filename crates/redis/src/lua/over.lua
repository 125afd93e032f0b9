-- over: with restart-guard, proves cheaply that the guard is over, before the lean path writes.
-- keys   records order marker
-- args   those of the script
-- reply  nothing
-- cost   if a permit may be granted one HGET and one INFO, otherwise nothing
--
-- The replication ID of a master is new with every start and with every promotion. If it is still
-- the one in the marker, nothing has been forgotten since the marker was written. The ID also
-- changes for other reasons, and then the piece guard looks further.
--
-- A release or a renewal admits nobody, so it does not ask.
    if about or granted then
      local known = try('hget', KEYS[3], 'o')
      -- The line has 54 bytes. A missing field, the empty text that stands there while the guard
      -- lasts, and an error are shorter.
      if not known or #known < 54 then break end
      local replication = try('info', 'replication')
      if #replication < 54 or not find(replication, known, 1, true) then break end
      is_guard_over = true
    end
