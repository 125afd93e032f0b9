-- plain: executes batches of acquire, release and renew at a name in a plain state, straight on,
--   without functions.
-- keys   records order
-- args   those of acquire, release and renew
-- reply  nothing; the pieces up to plain_fold are the same block, and answer
-- cost   one HMGET, or after lean one HGET
--
-- The block makes no function, because making functions is most of the cost of the general path. A
-- case that is not plain breaks out of the block before anything is written, and the rest of the
-- script begins anew, with functions. A state is plain if nothing has expired, the name is not
-- paused, and each request is about a ticket that stands, or is to stand, under the lease with the
-- id of its series.
-- plain_read reads the head, finds the first waiter where something is free, and reads the record
--   of each request. plain_acquire, plain_release, plain_renew and plain_grant execute it.
--   plain_end writes. plain_fold makes a line of few rows, and answers.
--
-- A record is read into locals. When the next request is about another record, the changed record
-- goes into `saved`.

repeat
  local inbox, seen, first = asker ~= '' and asker or NOBODY,
    packed_seen or match(fence_seen, '^%d+$'), ARGV[4]
  if not first or #ARGV > 67 or guarded_for > 0 or not now or not seen
      or seen + 0 > MOST_FENCE_SEEN then
    break
  end
  local field = string.byte(first, 3) == 110 and 'r' .. sub(first, 7, 38)
    or 'r' .. sub(first, 9, 32) .. '00000000'
  local text, record = head_text, nil
  if text == nil then
    local found = try('hmget', records, 'h', field)
    if found.err then break end
    text, record = found[1], found[2]
  end
