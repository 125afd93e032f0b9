-- rest: begins what is done when a queue is not in a plain state, or is asked for something else.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   nothing
--
-- All pieces from here on are in one function: what functions inside of it capture from outside is found at once.
-- A function captures at most sixty things, so it is given some.
local function rest(number, not_after, seen)
