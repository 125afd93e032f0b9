-- unfold: the head of which a lone value is made, and the field and text of the record; and a small line as rows.
-- keys   records order
-- args   none
-- reply  lone_head lone_field lone_record; nothing of a text that is none, or is too short; text, which is the head if there
--   was a line, or the error of a write
-- cost   of a line one HSET; one ZADD and one PEXPIRE if somebody waits
--
-- A line is written as rows at once, since what follows looks for them on the server. It says the same as before.
-- It stands in plain as it is, because a function that knows so many names is dear to make, and in a function after that.

local lone_head, lone_field, lone_record
local form = type(text) == 'string' and string.byte(text)
if form == IDLE_VERSION and #text >= IDLE_SIZE then
  local owner = sub(text, 2, 57)
  local _, last, clock, wall, fence, deadline, till, size = read(IDLE, text, 58)
  lone_field = 'r' .. sub(owner, 33) .. '00000000'
  lone_head = pack(HEAD, VERSION, HEAD_WITH{ clock = clock, wall = wall, passed = wall, fence = fence,
    due = wall + till - clock, deadline = deadline, memory = till, past = 1, rows = 1 }, 0)
  lone_record = pack(RECORD, 1, last, till, 0, 0, 0, 0, 0, 0, 0, NOBODY, 0, size) .. sub(text, IDLE_SIZE + 1)
elseif (form == FIRST_VERSION and #text >= FIRST_SIZE) or (form == LONE_VERSION and #text >= LONE_SIZE) then
  local owner, size, last, clock, wall, fence, bound, deadline, till, kind, limit, held, ttl, ends, ends_wall, members, digest, rest, _ =
    sub(text, 2, 57), 0
  local top, ranges, free = nil, 0, ''
  if form == FIRST_VERSION then
    _, last, clock, wall, deadline, till, kind, limit, held, bound, ttl, digest = read(FIRST, text, 58)
    fence, ends, ends_wall, members, top = wall, clock + ttl, wall + ttl, 1, held
    rest = pack(TICKET, last, held, ttl, wall, wall, 0, #text - FIRST_SIZE) .. sub(text, FIRST_SIZE + 1)
  else
    members, digest, clock, wall, fence, bound, deadline, ttl, ends, ends_wall = read(LONE, text, 58)
    _, last, till, kind, limit, held, top, ranges, size = read(LONE_MORE, text, LONE_MORE_AT)
    free, rest = sub(text, LONE_SIZE + 1, LONE_SIZE + 8 * ranges), sub(text, LONE_SIZE + 8 * ranges + 1)
  end
  lone_field = 'r' .. sub(owner, 33) .. '00000000'
  lone_head = pack(HEAD, VERSION, HEAD_WITH{ kind = string.char(kind), stated = limit, clock = clock, wall = wall,
    passed = wall, bound = bound, fence = fence, due = wall + min(ends - clock, ends_wall - wall), deadline = deadline,
    memory = till, longest = ttl, held = held, holders = members, past = 1, top = top, rows = 1 }, ranges) .. free
  lone_record = pack(RECORD, 3, last, till, members, ttl, ends, ends_wall, members, digest, 0, sub(owner, 1, 32), 0, size) .. rest
elseif form == LINE_VERSION and #text >= LINE_SIZE then
  local _, count, in_line, ranges, kind, _, clock, wall, bound, fence, due, deadline, longest, arrival, limit, held, holders, top =
    read(LINE, text)
  local set, add, past, memory = {}, {}, 0, 0
  local from, is_whole = LINE_SIZE + 8 * ranges + 1, true
  for k = 1, count + in_line do
    is_whole = from + LINE_STEP <= #text
    if not is_whole then break end
    local id, size = read('<c32I2', text, from)
    local kept = sub(text, from + LINE_STEP, from + LINE_STEP + size - 1)
    is_whole = #kept == size and size >= (k <= count and RECORD_SIZE or 146)
    if not is_whole then break end
    from = from + LINE_STEP + size
    set[2 * k - 1], set[2 * k] = (k <= count and 'r' or 't') .. id, kept
    if k <= count then
      local what, _, till = read('<BI4d', kept)
      if what % 2 == 1 then past, memory = past + 1, max(memory, till) end
    else
      add[#add + 1] = '0'
      add[#add + 1] = pack(MEMBER, 'q', read('<d', kept, 91) + RANK_BIAS, id)
    end
  end
  if is_whole and from == #text + 1 then
    local rows_head = pack(HEAD, VERSION, HEAD_WITH{ kind = string.char(kind), stated = (holders + in_line > 0 and limit or -1),
      clock = clock, wall = wall, passed = wall, bound = bound, fence = fence, due = due, deadline = deadline, memory = memory,
      longest = longest, arrival = arrival, held = held, holders = holders, waiting = in_line, past = past, top = top,
      rows = count + in_line }, ranges) .. sub(text, LINE_SIZE + 1, LINE_SIZE + 8 * ranges)
    set[#set + 1], set[#set + 2] = 'h', rows_head
    local first = in_line > 0 and try('zadd', order, unpack(add)) or try('hset', records, unpack(set))
    if type(first) == 'table' then
      -- Without memory what only grows is refused, and all else is done.
      local is_growth = true
      for k = 4, #ARGV do
        local word = match(ARGV[k], '^%a+')
        is_growth = is_growth and (word == 'acquire' or word == 'wish' or word == 'ask' or word == 'configure')
      end
      if not is_growth then
        try('hdel', records, '-')
        first = in_line > 0 and try('zadd', order, unpack(add)) or try('hset', records, unpack(set))
      end
    end
    text = rows_head
    if type(first) == 'table' then
      text = first
    elseif in_line > 0 then
      try('hset', records, unpack(set))
      try('pexpire', order, format('%d', max(math.floor((deadline - wall) / 1000), 1)))
    end
  end
end
