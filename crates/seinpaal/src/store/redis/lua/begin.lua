-- begin: the keys, the arguments, the clock, and how records are packed.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing; the pieces after this one build on it
-- cost   one TIME
--
-- Records and members are packed by `struct`: text costs ten times as much to read and to write. What is
-- ordered is big-endian, so that members stand in the order of their numbers.

local UNBOUNDED, HALF_DAY, SECOND = 9007199254740992, 43200000000, 1000000
local RANK_BIAS = 1000000000
local DIGESTS = 281474976710656
local MIN_TTL, MAX_TTL, MOST_PERMITS, MOST_ABOUT = 100000, 86400000000, 1000000000, 4096
local MOST_WAITING, MOST_FENCE_SEEN = 4294967295, 4503599627370496
local WORK = 128
local MOST_MEMORIES, MOST_ENDS = 65536, 64
local NOBODY = '--------------------------------'
local HEAD, LEASE, MEMORY = '<Bc1c1dddddddddddddddddd', '<c32dddddd', '<ddd'
local VERSION = 5
local HEAD_SIZE = 147
local HOLDER, WAITER = '<c1c1c32c32dddds', '<c1c1c32c32ddddddc32'
local MEMBER, FREE = '>c1I8c32', '>c1I8I8'
local records, order = KEYS[1], KEYS[2]
local given_now, asker, fence_seen = ARGV[1], ARGV[2], ARGV[3]
local floor, sub, match, lower = math.floor, string.sub, string.match, string.lower
local guarded_for = 0 -- microseconds; see guard
local try, read = redis.pcall, struct.unpack
local min, max, pack, format, call = math.min, math.max, struct.pack, string.format, redis.call

-- What a renewal of a whole lease sums up. No linear function of the number: sums over numbers in a row must differ.
local function digest_of(ticket)
  local mixed = (tonumber(sub(ticket, 25), 16) * 69069 + tonumber(sub(ticket, 19, 24), 16)) % 16777216
  return mixed * (mixed * mixed % 16777216)
end

-- `now` is given only by tests.
local now
if given_now ~= '' then
  now = tonumber(given_now or '?')
else
  local time = call('time')
  now = time[1] * 1000000 + time[2]
end
