-- wire_moving: wakeups at a node that is being given the slot, while listeners still count at the
--   old node.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- This node cannot tell who listens, so everybody is taken to listen.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'spublish', false, '^.*$', ':inbox:'
local SETTLING, ALWAYS_LISTED = false, true

