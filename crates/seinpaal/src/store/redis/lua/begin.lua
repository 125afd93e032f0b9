-- begin: the keys, the arguments, the clock, and how records are packed.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing; the pieces after this one build on it
-- cost   one TIME
--
-- Records and members are packed by `struct`: text costs ten times as much to read and to write. What is
-- ordered is big-endian, so that members stand in the order of their numbers.

local records, order = KEYS[1], KEYS[2]
local given_now, asker, fence_seen = ARGV[1], ARGV[2], ARGV[3]
local floor, sub, match = math.floor, string.sub, string.match
local guarded_for = 0 -- microseconds; see guard
local try, read = redis.pcall, struct.unpack
local min, max, pack, format, call = math.min, math.max, struct.pack, string.format, redis.call

-- What a renewal of a whole lease sums up. No linear function of the number: sums over numbers in a row must differ.
local function digest_of(ticket, number)
  local mixed = ((number or tonumber(sub(ticket, 25), 16)) * 69069 + tonumber(sub(ticket, 19, 24), 16)) % 16777216
  return mixed * (mixed * mixed % 16777216)
end

-- The head of which a lone value is made, and the field and text of the record.
local function unfold(text)
  local _, _, kind, limit, held, last, owner, clock, wall, bound, fence, due, deadline, till, ttl, ends, ends_wall, size =
    read(LONE, text)
  local id, by, members, digest, at = sub(owner, 33) .. '00000000', sub(owner, 1, 32), 0, 0, LONE_SIZE + size + 1
  while at <= #text do
    local number, _, _, _, _, _, length = read(TICKET, text, at)
    members, digest, at = members + 1, (digest + digest_of(id, number)) % DIGESTS, at + TICKET_SIZE + length
  end
  kind = string.char(kind)
  if held == 0 then kind, limit, ttl, ends, ends_wall, by = '-', -1, 0, 0, 0, NOBODY end
  return pack(HEAD, VERSION, kind, 0, limit, -1, clock, wall, wall, bound, fence, due, deadline, till, ttl, 0, held, members, 0,
    1, held, 1, 0), 'r' .. id, pack(RECORD, held > 0 and 3 or 1, last, till, members, ttl, ends, ends_wall, members, digest, 0,
    by, 0, size) .. sub(text, LONE_SIZE + 1)
end

local function is_lone(text)
  return type(text) == 'string' and #text >= LONE_SIZE and string.byte(text) == LONE_VERSION
end

-- `now` is given only by tests.
local now
if read_now then
  now = read_now
elseif given_now ~= '' then
  now = tonumber(given_now or '?')
else
  local time = call('time')
  now = time[1] * 1000000 + time[2]
end
