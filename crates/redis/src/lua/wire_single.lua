-- wire_single: wakeups on one server, where every inbox has one channel.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- Who listens at all listens here, and nothing has to settle.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'publish', 'numsub', '^[^{]*', 'inbox:'
local SETTLING, ALWAYS_LISTED = false, false

