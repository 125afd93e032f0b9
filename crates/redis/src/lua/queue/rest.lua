-- rest: the general path begins here. It serves queues that are not in a plain state, and all other requests.
-- keys   records order
-- args   as the straight path has them
-- reply  nothing
-- cost   nothing
--
-- All pieces from here on are in one function: what the functions inside of it capture from outside is found at once.
-- What most of them capture stands last: see state.
local ARGV, floor, char, concat, asker = ARGV, math.floor, string.char, table.concat, sub(field, 2)
local match, call, min, format, max = string.match, redis.call, math.min, string.format, math.max
local function rest()
