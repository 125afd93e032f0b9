-- wire_single: wakeups on one server, where every inbox has one channel.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- The pieces wire_* say how a script publishes a wakeup and counts the listeners of an inbox. The
-- channel of an inbox is what BEFORE_INBOX matches in the key of the records, then INBOX, then the
-- inbox.
--
-- Every client that listens is connected to this one server, so an inbox without a listener belongs
-- to a client that is gone: there is no time of settling.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'publish', 'numsub', '^[^{]*', 'inbox:'
local SETTLING, ALWAYS_LISTED = false, false

