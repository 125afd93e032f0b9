-- over: only with restart-guard, before all else: whether the guard is over, for sure and cheaply.
-- keys   records order marker
-- args   those of the script, and the length of the guard, which is taken off here
-- reply  nothing
-- cost   one GET; one INFO if there is an acquire
--
-- The replication ID is new with every start of a master and with every promotion. One that is still there says that
-- nothing has been forgotten since the marker was written. It is new for other reasons, too; then guard looks on.
-- Without an acquire it is not asked for, because the lean path admits nobody then.

guard = { length = table.remove(ARGV), marker = redis.pcall('get', KEYS[3]) }

function guard.remembers_all()
  guard.replication = redis.pcall('info', 'replication')
  return type(guard.replication) == 'string'
    and string.find(guard.replication, '\nmaster_replid:' .. string.sub(guard.marker, 1, 40), 1, true)
end

guard.is_over = type(guard.marker) == 'string' and string.find(guard.marker, ' 0 ', 1, true)
for i = 1, guard.is_over and #ARGV or 0 do
  if string.byte(ARGV[i]) == 1 then
    guard.is_over = guard.remembers_all()
    break
  end
end
