-- rest: begins the general path, which serves queues that are not in a plain state, and all other
--   requests.
-- keys   records order
-- args   those of the straight path
-- reply  nothing
-- cost   nothing
--
-- All pieces from here on are in one function. What its functions capture from outside it has
-- captured itself, so each finds it at once. The local that most functions capture stands last,
-- where Lua begins to look for it (see state).
local ARGV, floor, char, concat, asker = ARGV, math.floor, string.char, table.concat, sub(field, 2)
local match, call, min, format, max = string.match, redis.call, math.min, string.format, math.max
local function rest()
