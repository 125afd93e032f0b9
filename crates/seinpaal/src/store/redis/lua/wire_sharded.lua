-- wire_sharded: wakeups in a cluster: an inbox has a channel a name, in the slot of the name.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- After a fail-over or a move, those who listen have to find this node first. For as long as a place in the
-- queue lasts, nobody is taken for gone.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'spublish', 'shardnumsub', '^.*$', ':inbox:'
local SETTLING = 15000000

