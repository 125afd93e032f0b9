-- wire_sharded: wakeups in a cluster: an inbox has a channel a name, in the slot of the name.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- After a fail-over or a move, those who listen have to find this node first. For as long as a place in the
-- queue lasts, nobody is taken for gone.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'spublish', 'shardnumsub', '^.*$', ':inbox:'
-- While a slot moves, a script is only run where both keys are: so the order is never without a member.
local SETTLING, ALWAYS_LISTED = 15000000, true

