-- plain: what goes on all the time, done straight on: batches of acquire, release and renew at a name in a plain state.
-- keys   records order
-- args   those of acquire, release and renew
-- reply  nothing; the pieces after this one, up to plain_end, are the same block
-- cost   one HMGET, or after lean one HGET
--
-- It makes no function. Whatever is not plain breaks out of the block before anything is written, and the rest of the
-- script begins anew, with functions. Plain is: nothing has run out, the name is not paused, and a request is about a
-- ticket that stands, or is to stand, under the lease with its series' number.
-- Pieces: plain_read reads the head, finds who is to be served, and reads for each request the record that it is about;
-- plain_acquire, plain_release, plain_renew and plain_grant do what is asked; plain_end writes.
-- A record is read into locals. When a request is about another one, what was changed goes into `saved`.

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
