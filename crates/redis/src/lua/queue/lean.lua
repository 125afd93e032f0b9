-- lean: a lone push, pop or acknowledgement, or an acknowledgement with the next pop. This piece reads the request, the
--   head and the session.
-- keys   records order
-- args   the request, as LEAN_* say; after a push its payload
-- reply  nothing; the next two pieces are the same block, and answer
-- cost   one TIME, and one HGET each for the head and the session
--
-- This is the straight path, for a queue in a plain state: the queue is there, its session is known, no worker is in line,
-- no lease has run out, no item has fallen due, and nothing is to be forgotten. The path makes no function, and a table
-- only for the answer to a pop. A request that is not as simple breaks out of the block before anything is written, and
-- lean_words puts it as the rest of the script expects it.
-- LEAN_*: which request it is; now (below zero: the server's clock), the number of the batch, its deadline and the highest
--   number seen; the field of the session. Then of a push priority, most and about; of an acknowledgement what is listed of
--   the delivery behind the head; of a pop, of one item, ttl, margin, whether it waits and drains, and about.

local ARGV, order, records = ARGV, KEYS[2], KEYS[1]
-- What was read: the clock, the head, the session. A path that is left for the next one has written nothing.
local line, read_now, read_text, read_session = ARGV[1], nil, nil, nil
local operation = string.byte(line or '') or 32
if operation < 5 then
  local LEAN_PUSH, LEAN_POP, LEAN_DONE, LEAN_BOTH = '<ddddc33bI4', '<ddddc33dd', '<ddddc33c16', '<ddddc33c16dd'
  -- Where what follows the session begins, and about: of a push, of a pop alone and after an acknowledgement.
  local REQUEST_AT, PUSH_ABOUT, POP_ABOUT, DONE_ENDS, BOTH_ABOUT = 67, 72, 85, 83, 101
  local LEAN_POPPED = '<c8ddI4I4bddc0' -- POPPED, with the time and how many items are left before about
  local try, read, pack, sub = redis.pcall, struct.unpack, struct.pack, string.sub
  local about_at = operation == 1 and PUSH_ABOUT or operation == 4 and BOTH_ABOUT or operation == 2 and POP_ABOUT or DONE_ENDS
  local size = #line - about_at + 1
  repeat
    if size < 0 or size > MOST_TEXT then break end
    local now, number, not_after, seen, field, priority, most, done, ttl, margin
    if operation == 1 then
      now, number, not_after, seen, field, priority, most = read(LEAN_PUSH, line, 2)
    elseif operation == 2 then
      now, number, not_after, seen, field, ttl, margin = read(LEAN_POP, line, 2)
    elseif operation == 3 then
      now, number, not_after, seen, field, done = read(LEAN_DONE, line, 2)
    else
      now, number, not_after, seen, field, done, ttl, margin = read(LEAN_BOTH, line, 2)
    end
    if not (now >= 0) then
      local time = redis.call('time')
      now = time[1] * 1000000 + time[2]
    end
    read_now = now

    local text, known = try('hget', records, 'h'), try('hget', records, field)
    read_text, read_session = text, known
    if not text or not known or #text < HEAD_BYTES or #known < SESSION_BYTES then break end
    local version, has_more, FIELDS_OF_HEAD = read(HEAD, text)
    if version ~= VERSION or has_more ~= 0 or deadline > 0 then break end
    local before, _, stands = read(SESSION, known)
    if not (number > before and not_after >= stands) or number > UNBOUNDED or not_after > UNBOUNDED then break end
    local passed = now - wall
    if passed < 0 then passed = 0 elseif passed > bound then passed = bound end
    clock, wall = clock + passed, now
    -- What there is none of never ends. No session stands before the first one: so the deadline has not passed either.
    if first_end <= clock or first_wall <= now or first_due <= now or first_session < now or first_key <= now then break end
    if not (seen <= MOST_SEEN) then break end
    if seen > last then last = seen end
    if not_after > memory then memory = not_after end
    local about = sub(line, about_at)
    local listed = sub(text, HEAD_BYTES + 1)
