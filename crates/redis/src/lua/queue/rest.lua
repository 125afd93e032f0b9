-- rest: the general path begins here. It serves queues that are not in a plain state, and all other requests.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   nothing
--
-- All pieces from here on are in one function: what the functions inside of it capture from outside is found at once.
-- A function captures at most sixty things, so this one is given some as arguments.
local function rest(number, not_after, seen)
