-- wire_moving: wakeups at a node that is being given the slot: who listens is still counted at the old one.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- So everybody is taken to listen.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'spublish', false, '^.*$', ':inbox:'
local SETTLING, ALWAYS_LISTED = false, true

