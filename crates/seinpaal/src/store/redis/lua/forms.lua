-- forms: how records are packed, and the bounds that all scripts go by.
-- keys   records order
-- args   none
-- reply  nothing; the pieces after this one build on it
-- cost   nothing
--
-- HEAD: version kind flags (1 paused, 2 wide, 4 spread) stated pinned clock wall passed bound fence due deadline
--   memory longest arrival held holders waiting past top rows, how many free ranges follow; then the reason of a pause.
-- RECORD: what there is (1 a memory, 2 a lease); the memory: last until open; the lease: ttl ends ends_wall members
--   digest parked inbox; where it is listed, how long the causes are; then the causes, then tickets.
-- TICKET: number permits ttl since fence first slot, how long about is; then about.
-- LONE: the head and the record of a name at which there is one record and nobody waits, in one value: version, for how
--   many grants it has been so, kind limit held last, inbox and series, clock wall bound fence due deadline till ttl ends
--   ends_wall, how long the causes are; then causes, then tickets. Here `due` is an instant of the server's clock. What does not go without saying is elsewhere:
--   nothing is pinned, paused, listed or in line, and no slot below one that is held is free.
-- PLAIN_*: a request as it travels where it is likely to be plain: what it is, now (below zero: the server's clock), the
--   fence seen, the inbox; then an acquire as in ASK, the ticket of a release and its number, or the lease of a
--   renewal, ttl margin members digest.

local UNBOUNDED, HALF_DAY, SECOND = 9007199254740992, 43200000000, 1000000
local RANK_BIAS = 1000000000
local DIGESTS = 281474976710656
local MIN_TTL, MAX_TTL, MOST_PERMITS, MOST_ABOUT = 100000, 86400000000, 1000000000, 4096
local MOST_WAITING, MOST_FENCE_SEEN = 4294967295, 4503599627370496
local WORK = 128
local MOST_MEMORIES, MOST_ENDS = 65536, 64
local MOST_ROWS, MOST_INLINE, MOST_FREE = 64, 512, 16
local NOBODY = '--------------------------------'
local VERSION = 6
local HEAD, HEAD_SIZE = '<Bc1Bi4i4ddddddddddI4I4I4I4I4I4B', 116
local RECORD, RECORD_SIZE = '<BI4dI4dddI4dI4c32dI2', 99
local TICKET, TICKET_SIZE = '<I4I4dddI4B', 37
local HOLDER, WAITER = '<c1c1c32c32dddds', '<c1c1c32c32ddddddc32'
-- An acquire as one server is asked: ticket number, whether its lease is its series', kind permits rule limit ttl margin
-- not_after, the most that may wait (-1: it does not), priority place_ttl; then lease and place; then about.
-- Its size is that with the word before it.
local ASK, ASK_SIZE = '<c32I4Bc1I4c1I4ddddi4d', 99
local PLAIN_ACQUIRE, PLAIN_RELEASE, PLAIN_RENEW = '<Bddc56xxxxxxxxI4BBI4BI4ddd', '<Bddc56xxxxxxxxI4', '<Bddc56xxxxxxxxdddd'
local PLAIN_BODY, PLAIN_ABOUT = 50, 205
local LONE, LONE_SIZE, LONE_VERSION = '<BBBI4I4I4c56ddddddddddB', 152, 7
-- How long its tickets may be, and for how many grants its keys expire early whenever nobody holds.
local MOST_LONE, MOST_SHORT = 1024, 16
local MEMBER, FREE = '>c1I8c32', '>c1I8I8'
-- Whether the requests came as PLAIN_*, and the server's clock where it was read before begin.
local is_packed, read_now = false, nil
