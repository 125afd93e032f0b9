-- wire_single: wakeups on one server, where every inbox has one channel.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- The pieces wire_* define how a script publishes a wakeup and counts the listeners of an inbox.
-- The channel of an inbox is the part of the records' key that BEFORE_INBOX matches, then INBOX,
-- then the inbox.
--
-- Every client that listens is connected to this one server, so an inbox without a listener belongs
-- to a client that is gone: there is no time of settling.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'publish', 'numsub', '^[^{]*', 'inbox:'
local SETTLING, ALWAYS_LISTED = false, false

