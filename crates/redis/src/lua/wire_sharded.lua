-- wire_sharded: wakeups in a cluster, where an inbox has a channel for each name, in the slot of
--   the name.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing
--
-- After a fail-over or a move, clients that listen have to find the new node first. So for 15
-- seconds, as long as a place in line lasts, no client counts as gone.
local PUBLISH, LISTENERS, BEFORE_INBOX, INBOX = 'spublish', 'shardnumsub', '^.*$', ':inbox:'
-- While a slot moves, a node runs a script only if it has both keys. So the order always has a
-- member, which keeps the order's key alive.
local SETTLING, ALWAYS_LISTED = 15000000, true

