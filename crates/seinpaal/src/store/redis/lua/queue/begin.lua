-- begin: the keys, the arguments, the clock, and how what is kept of a queue is packed.
-- keys   records order
-- args   now session number not_after seen
-- reply  nothing; the pieces after this one build on it
-- cost   one TIME
--
-- Records and members are packed by `struct`. What is ordered is big-endian, so that members stand in the
-- order of their numbers. Numbers of items and fences are exact: they stay below 2^53.

local UNBOUNDED, HALF_DAY = 9007199254740992, 43200000000
local AGING, CALL_WAIT, PLACE_TTL = 60000000, 1000000, 180000000
local WORK, FORGET, MOST_PAYLOAD, MOST_SEEN, PREVIEW = 128, 4, 4194304, 4503599627370496, 256
local MIN_TTL, MAX_TTL, MOST_ITEMS, MOST_BYTES, MOST_TEXT = 100000, 86400000000, 64, 1048576, 4096
local MOST_DELIVERIES, MAX_WINDOW, MOST_LIMIT, MOST_PAST = 1000000, 604800000000, 1000000000, 8
local RANK_BIAS = 10000000000 -- no rank is negative with it
local NOBODY = '--------------------------------'
local HEAD, HEAD_BYTES = '<Bddddddddddddddddddddddddc32I4c0I4c0', 233
local ITEM, WORKED = '<c1bI4I4I4ddHc0Hc0Hc0Hc0', '<dc32ddddHc0'
local SESSION, GROUP, KEY = '<ddd', '<ddd', '<dd'
local FIRST_REQUEST, given_now = 6, ARGV[1]
local try, floor, char, concat = redis.pcall, math.floor, string.char, table.concat
-- What most functions capture stands last: see state.
local byte, order, records, read, asker, sub = string.byte, KEYS[2], KEYS[1], struct.unpack, ARGV[2], string.sub
local match, call, min, pack, format, max = string.match, redis.call, math.min, struct.pack, string.format, math.max
local NUMBER, TWO = '>I8', '>I8I8'

-- `now` is given only by tests.
local now
if given_now ~= '' then
  now = tonumber(given_now or '?')
else
  local time = call('time')
  now = time[1] * 1000000 + time[2]
end
