-- unfold: makes the head and the record, in the form of rows, from a value that is both.
-- keys   records order
-- args   none
-- reply  lone_head lone_field lone_record: the head, and field and text of the record; nothing if
--        the text is not such a value or is damaged
-- cost   where the tickets stand apart one HGET
--
-- This piece stands twice in a script: once in plain, as it is, and once in a function for the
-- general path. In plain it is no function, because making a function with so many names costs
-- much.

local lone_head, lone_field, lone_record
local form, apart, its_flags, its_rows, its_listed, ahead =
  type(text) == 'string' and string.byte(text), nil, 0, 1, 0, 0
if (form == APART_VERSION and #text == LONE_SIZE)
    or (form == CROWD_VERSION and #text == LONE_SIZE + CROWD_SIZE) then
  apart = try('hget', records, 'a')
  if type(apart) == 'string' then
    if form == CROWD_VERSION then
      its_flags, its_rows, its_listed, ahead = read(CROWD, text, LONE_SIZE + 1)
    end
    text, form = sub(text, 1, LONE_SIZE) .. apart, LONE_VERSION
  end
end
if form == IDLE_VERSION and #text >= IDLE_SIZE then
  local owner = sub(text, 2, 57)
  local _, last, clock, wall, fence, deadline, till, recent = read(IDLE, text, 58)
  lone_field = 'r' .. sub(owner, 33) .. '00000000'
  lone_head = pack(HEAD, VERSION, HEAD_WITH{ clock = clock, wall = wall, passed = wall,
    fence = fence, due = wall + till - clock, deadline = deadline, memory = till, recent = recent,
    past = 1, rows = 1 }, 0)
  lone_record = pack(RECORD, 1, last, till, 0, 0, 0, 0, 0, 0, 0, NOBODY, 0, #text - IDLE_SIZE)
    .. sub(text, IDLE_SIZE + 1)
elseif (form == FIRST_VERSION and #text >= FIRST_SIZE)
    or (form == LONE_VERSION and #text >= LONE_SIZE) then
  local owner, size, last, clock, wall, fence, bound, deadline, till, kind, limit, held, ttl, ends,
    ends_wall, members, digest, rest, recent, _ = sub(text, 2, 57), 0
  local top, ranges, free = nil, 0, ''
  if form == FIRST_VERSION then
    _, last, clock, wall, deadline, till, kind, limit, held, bound, ttl, digest, recent =
      read(FIRST, text, 58)
    fence, ends, ends_wall, members, top = wall, clock + ttl, wall + ttl, 1, held
    rest = pack(TICKET, last, held, ttl, wall, wall, 0, #text - FIRST_SIZE)
      .. sub(text, FIRST_SIZE + 1)
  else
    members, digest, clock, wall, fence, bound, deadline, ttl, ends, ends_wall =
      read(LONE, text, 58)
    _, last, till, kind, limit, held, top, recent, ranges, size =
      read(LONE_MORE, text, LONE_MORE_AT)
    free, rest = sub(text, LONE_SIZE + 1, LONE_SIZE + 8 * ranges),
      sub(text, LONE_SIZE + 8 * ranges + 1)
  end
  lone_field = 'r' .. sub(owner, 33) .. '00000000'
  lone_head = pack(HEAD, VERSION, HEAD_WITH{ kind = string.char(kind), stated = limit,
    clock = clock, wall = wall, passed = wall + ahead, bound = bound, fence = fence,
    due = wall + ahead + min(ends - clock, ends_wall - wall), deadline = deadline, memory = till,
    longest = ttl, recent = recent, held = held, holders = members, past = 1, top = top,
    flags = its_flags, rows = its_rows }, ranges) .. free
  lone_record = pack(RECORD, 3, last, till, members, ttl, ends, ends_wall, members, digest, 0,
    sub(owner, 1, 32), its_listed, size) .. rest
end
