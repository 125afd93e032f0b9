-- begin: the keys, the arguments, the clock, and how what is kept of a queue is packed.
-- keys   records order
-- args   now sender
-- reply  nothing; the pieces after this one build on it
-- cost   one TIME
--
-- SENDER: the number of the batch, its deadline, the highest number seen, the session.
-- What goes on all the time travels packed: reading words out of a line is dear. PUSH: priority most;
-- then about. POP: items ttl margin wait drains; then about. DELIVERY: number fence.
-- Records and members are packed by `struct`. What is ordered is big-endian, so that members stand in the
-- order of their numbers. Numbers of items and fences are exact: they stay below 2^53.

local UNBOUNDED, HALF_DAY = 9007199254740992, 43200000000
local AGING, CALL_WAIT, PLACE_TTL = 60000000, 1000000, 180000000
local WORK, FORGET, MOST_PAYLOAD, MOST_SEEN, PREVIEW = 128, 4, 4194304, 4503599627370496, 256
local MIN_TTL, MAX_TTL, MOST_ITEMS, MOST_BYTES, MOST_TEXT = 100000, 86400000000, 64, 1048576, 4096
local MOST_DELIVERIES, MAX_WINDOW, MOST_LIMIT, MOST_PAST = 1000000, 604800000000, 1000000000, 8
local RANK_BIAS = 10000000000 -- no rank is negative with it
local NOBODY = '--------------------------------'
-- HEAD: version, whether there is more, and the fields of the head: head.rs has their list.
-- A head ends with MORE only while there is something of it, or with the numbers of items in work: see the field h in state; an item has WORKED if it is in work, or when it is due or died.
-- Texts come last, so that everything else stands at the same place in each.
local VERSION, HEAD, HEAD_BYTES, MORE = 3, '<BBFORM_OF_HEAD', 2 + SIZE_OF_HEAD, '<ddddc32I4c0I4c0'
local ITEM, ITEM_BYTES, WORKED, WORKED_BYTES = '<c1bI4I4I4ddHHHHH', 40, '<dddddc32', 72
local ITEM_AT_WORK, HEAD_AND_LIST = '<c1bI4I4I4ddHHHHHdddddc32c0', '<BBFORM_OF_HEADc0'
local SESSION, GROUP, KEY = '<ddd', '<ddd', '<dd'
local SENDER, PUSH, POP, DELIVERY = '<dddc32', '<bI4', '<BddBB', '<dd'
local FIRST_REQUEST, given_now = 3, ARGV[1]
local try, floor, char, concat = redis.pcall, math.floor, string.char, table.concat
if #ARGV < 2 or #ARGV[2] ~= 56 then return redis.error_reply('SEINPAALARGUMENT the sender') end
local number, not_after, seen, session = struct.unpack(SENDER, ARGV[2])
-- What most functions capture stands last: see state.
local MOST_LISTED, find = 512, string.find
local byte, order, records, read, asker, sub = string.byte, KEYS[2], KEYS[1], struct.unpack, session, string.sub
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
