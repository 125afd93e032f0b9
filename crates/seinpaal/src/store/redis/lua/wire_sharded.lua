-- wire_sharded: wakeups in a cluster: an inbox has a channel a name, in the slot of the name.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'spublish', 'shardnumsub', '^.*$', ':inbox:'

