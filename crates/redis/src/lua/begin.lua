-- begin: gives the keys, arguments and functions that all further pieces use, and reads the clock.
-- keys   records order
-- args   now inbox fence_seen
-- reply  nothing; the pieces after this one build on it
-- cost   one TIME
--
-- Records and members are packed by `struct`, because text costs ten times as much to read and to
-- write. The numbers in members are big-endian, so that members stand in the order of their
-- numbers.

local records, order = KEYS[1], KEYS[2]
local given_now, asker, fence_seen = ARGV[1], ARGV[2], ARGV[3]
local floor, sub, match = math.floor, string.sub, string.match
local guarded_for = 0 -- microseconds; see guard
local try, read = redis.pcall, struct.unpack
local min, max, pack, format, call = math.min, math.max, struct.pack, string.format, redis.call

-- A renewal of a whole lease carries the sum of these numbers over its tickets. A linear function
-- of the ticket's number would not do, because other numbers in a row could have the same sum.
local function digest_of(ticket, number)
  local mixed = ((number or tonumber(sub(ticket, 25), 16)) * 69069
    + tonumber(sub(ticket, 19, 24), 16)) % 16777216
  return mixed * (mixed * mixed % 16777216)
end

-- Only tests give `now`.
local now
if read_now then
  now = read_now
elseif given_now ~= '' then
  now = tonumber(given_now or '?')
else
  local time = call('time')
  now = time[1] * 1000000 + time[2]
end
