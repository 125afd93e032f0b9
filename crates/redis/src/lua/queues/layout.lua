-- How a queue is stored; README.md has it as tables. All times are microseconds.

-- The header: version; 1 paused, 2 reopening, 4 RARE follows; limit (NONE: none); jobs that are ready, open, delayed, active,
-- dead; sessions that are remembered; clock, wall, bound, the last number given, due (nothing ends or falls due before it),
-- forget (nothing is forgotten before it), until when anything is remembered, when the keys expire (0 never).
local HEAD, HEAD_SIZE = '<BBI4I4I4I4I4I4I4dddddddd', 94
-- The rest, if it is not as in a new queue: limit of each group, groups with ready or active jobs; workers in line, those
-- called, and how many jobs these want; keys that are remembered; shift; when the watching worker will look; that worker.
-- While groups are reopened, the last one that was looked at follows.
local RARE = '<I4I4I4I4I4I4ddc16'
local VERSION, NONE, NOBODY = 6, 4294967295, '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
-- A job: r ready or active, d delayed, x dead; priority, most attempts, those that are over, bytes of
-- payload, when it was pushed, rank, when it is due or died; bytes of group, key and about. Then these three,
-- and how its last attempts ended.
local JOB, JOB_SIZE = '<c1bI4I4I4dddI2I2I2', 44
-- An attempt under way: fence, inbox, since when, ttl, its end on the ledger's clock and on the server's, the
-- bound under which the order lists it, bytes of group. Then the group, and about of the worker.
local ATTEMPT = '<c8c16dddddI2'
-- A session: the number of its last call, until when that is remembered, the bound under which the order lists
-- it. Then the answers.
local SESSION, SESSION_SIZE = '<ddd', 24
-- In an answer, a pop: for how long its leases are valid, how many jobs are left, how many follow. Each: ID, fence, attempt,
-- most attempts, priority, when it was pushed, bytes of group and about. Then these two.
local POPPED, DELIVERY = '<BddB', '<c8c8I4I4bdI2I2'
