-- begin: the keys, the arguments, the clock, and how records are packed.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing; the pieces after this one build on it
-- cost   one TIME
--
-- Records and members are packed by `struct`: text costs ten times as much to read and to write. What is
-- ordered is big-endian, so that members stand in the order of their numbers.
--
-- HEAD: version kind flags (1 paused, 2 wide, 4 spread) stated pinned clock wall passed bound fence due deadline
--   memory longest arrival held holders waiting past top rows, how many free ranges follow; then the reason of a pause.
-- RECORD: what there is (1 a memory, 2 a lease); the memory: last until open; the lease: ttl ends ends_wall members
--   digest parked inbox; where it is listed, how long the causes are; then the causes, then tickets.
-- TICKET: number permits ttl since fence first slot, how long about is; then about.

local UNBOUNDED, HALF_DAY, SECOND = 9007199254740992, 43200000000, 1000000
local RANK_BIAS = 1000000000
local DIGESTS = 281474976710656
local MIN_TTL, MAX_TTL, MOST_PERMITS, MOST_ABOUT = 100000, 86400000000, 1000000000, 4096
local MOST_WAITING, MOST_FENCE_SEEN = 4294967295, 4503599627370496
local WORK = 128
local MOST_MEMORIES, MOST_ENDS = 65536, 64
local MOST_ROWS, MOST_INLINE, MOST_FREE = 64, 512, 16
local NOBODY = '--------------------------------'
local VERSION = 6
local HEAD, HEAD_SIZE = '<Bc1Bi4i4ddddddddddI4I4I4I4I4I4B', 116
local RECORD, RECORD_SIZE = '<BI4dI4dddI4dI4c32dI2', 99
local TICKET, TICKET_SIZE = '<I4I4dddI4B', 37
local HOLDER, WAITER = '<c1c1c32c32dddds', '<c1c1c32c32ddddddc32'
-- An acquire as one server is asked: ticket number, whether its lease is its series', kind permits rule limit ttl margin
-- not_after, the most that may wait (-1: it does not), priority place_ttl; then lease and place; then about.
-- Its size is that with the word before it.
local ASK, ASK_SIZE = '<c32I4Bc1I4c1I4ddddi4d', 99
local MEMBER, FREE = '>c1I8c32', '>c1I8I8'
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

-- `now` is given only by tests.
local now
if given_now ~= '' then
  now = tonumber(given_now or '?')
else
  local time = call('time')
  now = time[1] * 1000000 + time[2]
end
