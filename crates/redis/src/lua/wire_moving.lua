-- wire_moving: wakeups at a node that is being given the slot, while listeners still count at the
--   old node.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- This node cannot tell which clients listen, so every client counts as listening.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'spublish', false, '^.*$', ':inbox:'
local SETTLING, ALWAYS_LISTED = false, true

