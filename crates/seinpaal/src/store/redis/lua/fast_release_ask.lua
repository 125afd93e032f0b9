-- fast_release_ask: the first quarter of release's fast path: which ticket, and that it is here.
-- keys   records order
-- args   those of release
-- reply  nothing
-- cost   one HMGET

repeat
  local ticket = #ARGV == 4 and match(ARGV[4], '^release (%x+) all$')
  if not ticket or #ticket ~= 32 or lower(ticket) ~= ticket then break end
  local series, number = sub(ticket, 1, 24) .. '00000000', tonumber(sub(ticket, 25), 16)
  local found = try('hmget', records, 'h', 't:' .. ticket, 's:' .. series)
  if found.err or not found[1] or not found[2] or not found[3] or #found[3] < 24 then break end
