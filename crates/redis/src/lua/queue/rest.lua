-- rest: begins the general path, which serves queues that are not in a plain state, and all other
--   requests.
-- keys   records order
-- args   those of the straight path
-- reply  nothing
-- cost   nothing
--
-- All pieces from here on are in one function. This function has itself captured each value that
-- its inner functions capture from outside, so each of them finds the value at once. The local that
-- most functions capture stands last, where Lua begins its search (see state).
local ARGV, floor, char, concat, asker = ARGV, math.floor, string.char, table.concat, sub(field, 2)
local match, call, min, format, max = string.match, redis.call, math.min, string.format, math.max
local function rest()
