-- forms: how records are packed, and the bounds that all scripts go by.
-- keys   records order
-- args   none
-- reply  nothing; the pieces after this one build on it
-- cost   nothing
--
-- HEAD: version, the fields of the head (head.rs has their list, and the words of which the loader makes them), how many
--   free ranges follow; then these, and the reason of a pause. Flags: 1 paused, 2 wide, 4 spread.
-- RECORD: what there is (1 a memory, 2 a lease); the memory: last until open; the lease: ttl ends ends_wall members
--   digest parked inbox; where it is listed, how long the causes are; then the causes, then tickets.
-- TICKET: number permits ttl since fence first slot, how long about is; then about.
-- The head and the record of a name at which there is one record and nobody waits are one value, which begins with its
--   version, inbox and series. What does not go without saying is elsewhere: nothing is pinned, paused, listed or in
--   line. LONE goes on with members digest clock wall fence bound deadline ttl ends ends_wall, and for how many grants
--   it has been so, last till kind limit held top recent, how many free ranges of slots, how long the causes are; then these,
--   the causes and the tickets. IDLE, while nobody holds: grants last clock wall fence deadline till recent; then
--   the causes. FIRST, while one ticket is just as it was granted at wall, with wall as fence, and there are no
--   causes: grants last clock wall deadline till kind limit permits margin ttl digest recent; then about.
-- APART: LONE as far as how long the causes are; all that follows stands in a field by itself, which a renewal does not
--   read. Its tickets are more than one.
-- CROWD: the same of a name with rows, of which this is the head and the only record: flags rows, by which bound the
--   record is listed, and by how much passed is ahead of wall.
-- LINE: the same of few sessions that take turns: clock wall fence bound due deadline; arrival recent, where waiters begin,
--   how many wait, grants, how many places; kind, how many sessions, holders, free ranges, how long the causes are, limit held
--   top; then sessions, free ranges, tickets, waiters in order of service, places, and causes. Due is a bound as in HEAD,
--   on the store's clock.
--   A session: inbox series; members and digest of its lease, which is that of its series; last till; ends ends_wall of
--   that lease; how long its causes are. A ticket: whose, how long about is, number permits slot ttl since fence; then about.
--   A waiter: whose, how long about is, number permits ttl digest rank since margin priority; then about. A place, while its
--   session waits: whose; members digest ends ends_wall of its lease; the id of that, without the zeros at its end. No waiter
--   is parked, and no slot has a name.

local UNBOUNDED, HALF_DAY, SECOND = 9007199254740992, 43200000000, 1000000
local RANK_BIAS = 1000000000
local DIGESTS = 281474976710656
local MIN_TTL, MAX_TTL, MOST_PERMITS, MOST_ABOUT = 100000, 86400000000, 1000000000, 4096
local MOST_WAITING, MOST_FENCE_SEEN = 4294967295, 4503599627370496
local WORK = 128
local MOST_MEMORIES, MOST_ENDS = 65536, 64
local MOST_ROWS, MOST_INLINE, MOST_FREE = 64, 512, 16
local NOBODY = '--------------------------------'
local VERSION = 12
-- A head is of this version if the slots have names, and otherwise like any other.
local NAMED_VERSION = 16
local HEAD, HEAD_SIZE = '<BFORM_OF_HEADB', 2 + SIZE_OF_HEAD
local RECORD, RECORD_SIZE = '<BI4dI4dddI4dI4c32dI2', 99
local TICKET, TICKET_SIZE = '<I4I4dddI4B', 37
-- One who waits and wishes for slots says which at the end.
local HOLDER, WAITER, WISHER = '<c1c1c32c32dddds', '<c1c1c32c32ddddddc32', '<c1c1c32c32ddddddc32s'
local WAITER_SIZE = 146
-- An acquire as one server is asked: ticket number, whether its lease is its series', kind permits rule limit ttl margin
-- not_after, the most that may wait (-1: it does not), priority place_ttl; then lease and place; then about.
-- Its size is that with the word before it.
local ASK, ASK_SIZE = '<c32I4Bc1I4c1I4ddddi4d', 99
local IDLE, IDLE_SIZE, IDLE_VERSION = '<BI4dddddd', 110, 13
local LONE, LONE_MORE, LONE_MORE_AT, LONE_SIZE = '<I4ddddddddd', '<BI4dBI4I4I4dBB', 134, 169
local LONE_VERSION = 14
local FIRST, FIRST_SIZE, FIRST_VERSION = '<BI4ddddBI4I4dddd', 135, 15
local APART_VERSION, CROWD, CROWD_SIZE, CROWD_VERSION = 20, '<BI4dd', 21, 21
-- A call writes the line's head as far as it changes: the times, or as far as LINE_TURN_END, or all of it.
local LINE, LINE_SIZE, LINE_VERSION = '<ddddddddI2BBBBBBBI2I4I4I4', 88, 22
local PACK_LINE, PACK_LINE_TURN = '<BddddddddI2BBBBBBBI2I4I4I4', '<BddddddddI2BBB'
local PACK_LINE_TIMES = '<Bdddddd'
local LINE_TIMES_END, LINE_TURN_END = 49, 70
local LINE_SESSION, SESSION_SIZE, SESSION_CAUSES_AT = '<c32c24BdI4dddI2', 95, 93
local LINE_TICKET, LINE_TICKET_SIZE = '<BBI4I4I4ddd', 38
local LINE_WAITER, LINE_WAITER_SIZE = '<BBI4I4dddddb', 51
local LINE_PLACE, PLACE_SIZE = '<BBdddc24', 50
local LONGEST_LINE, MOST_FOLDED = 3072, 24
local PACK_IDLE, PACK_LONE = '<Bc56BI4dddddd', '<Bc56I4dddddddddBI4dBI4I4I4dBB'
-- Whether the restart guard, where there is one, was proved to be over; and whether lean has put together what stood apart.
local is_guard_over, is_apart
local MEMBER, FREE = '>c1I8c32', '>c1I8I8'
-- Whether the requests came as PLAIN_*; the fence seen that came so; the server's clock and the head, where they were read
-- before begin.
local is_packed, packed_seen, read_now, head_text = false, nil, nil, nil
