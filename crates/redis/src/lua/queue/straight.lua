-- straight: begins the straight path of queues: reads the clock, the head and the session.
-- keys   records order
-- args   START and the requests, packed one after the other; after that the payload of each push
-- reply  nothing; the next four pieces are the same block, and answer
-- error  SEINPAALARGUMENT
-- cost   one TIME, and one HGET each for the head and the session
--
-- The straight path executes the usual requests at a queue in a plain state: pushes alone, or the
-- end or renewal of deliveries with at most one pop after it. In a plain state the queue is there,
-- no worker is in line, no lease has run out, no item has fallen due, and nothing is to be
-- forgotten. The path makes no function, because making functions is most of the cost of the
-- general path. A case that is not plain breaks out of the block before anything is written. The
-- general path then begins anew with the texts that were read.

local line, order, records = ARGV[1] or '', KEYS[2], KEYS[1]
local try, read, pack, sub, byte = redis.pcall, struct.unpack, struct.pack, string.sub, string.byte
if #line < START_BYTES then return redis.error_reply('SEINPAALARGUMENT the sender') end
local given_now, number, not_after, seen, field = read(START, line)
local now = given_now
if not (now >= 0) then
  local time = redis.call('time')
  now = time[1] * 1000000 + time[2]
end
local read_text, read_session = try('hget', records, 'h'), try('hget', records, field)

repeat
  local text, known = read_text, read_session
  if not text or #text < HEAD_BYTES or (known and #known < SESSION_BYTES) then break end
  local version, has_more, FIELDS_OF_HEAD = read(HEAD, text)
  if version ~= VERSION or has_more ~= 0 then break end
  if has_more == 0 and (#text - HEAD_BYTES) % LISTED_BYTES > 0 then break end
  -- The pending writes. The tables get room here, because growing a table costs much.
  local set, add, del, remove = { nil, nil, nil, nil, nil, nil, nil, nil }, nil, nil, nil
  local before, _, stands = 0, 0, not_after
  if known then
    before, _, stands = read(SESSION, known)
  else
    if string.find(sub(field, 2), '[^0-9a-f]') then break end
    sessions, add = sessions + 1, { '0', 's' .. pack(NUMBER, not_after) .. sub(field, 2) }
    if not_after < first_session then first_session = not_after end
  end
  if not (number > before and not_after >= stands) or number > UNBOUNDED
      or not_after > UNBOUNDED then
    break
  end
  local passed = now - wall
  if passed < 0 then passed = 0 elseif passed > bound then passed = bound end
  clock, wall = clock + passed, now
  -- A bound without anything to bound is UNBOUNDED. No session ends before first_session, so the
  -- deadline of this batch has not passed either.
  if first_end <= clock or first_wall <= now or first_due <= now or first_session < now
      or first_key <= now then
    break
  end
  if not (seen <= MOST_SEEN) then break end
  if seen > last then last = seen end
  if not_after > memory then memory = not_after end
  local listed, kept, answer, is_plain, pushed = sub(text, HEAD_BYTES + 1), '', now, true, 0
  local at = START_BYTES + 1
  local what = byte(line, at)
