-- forms: the formats in which the scripts of names pack their data, and the bounds for all of them.
-- keys   records order
-- args   none
-- reply  nothing; the pieces after this one build on it
-- cost   nothing
--
-- HEAD: version; the fields of the head (head.rs lists them, and the loader writes them in the
--   place of words like FORM_OF_HEAD); the number of free ranges; then the ranges and the reason of
--   a pause. Flags: 1 paused, 2 wide, 4 spread (see pack).
-- RECORD: its parts (1 a memory, 2 a lease, 3 both); of the memory last till open; of the lease
--   ttl ends ends_wall members digest parked inbox; the bound under which the order lists it, or 0
--   if it does not; the length of the causes; then the causes, and then the tickets.
-- TICKET: number permits ttl since fence, its first slot, the length of about; then about.
--
-- A name with one record and no waiter has head and record in one value. The value begins with its
-- version, inbox and series. Such a name is neither pinned nor paused, and only in CROWD has its
-- order a member.
-- LONE goes on with members digest clock wall fence bound deadline ttl ends ends_wall; the number
--   of grants since the value has this form; last till kind limit held top recent; the number of
--   free ranges; the length of the causes; then the ranges, the causes and the tickets.
-- IDLE, while nobody holds: grants (as in LONE) last clock wall fence deadline till recent; then
--   the causes.
-- FIRST, while the only ticket is as it was granted, with wall as its fence, and there are no
--   causes: grants last clock wall deadline till kind limit permits margin ttl digest recent; then
--   about.
-- APART: LONE up to the length of the causes. The rest stands in the field a, which a renewal does
--   not read. There is more than one ticket.
-- CROWD: APART, for a name whose other rows are entries; then flags, rows, the bound under which
--   the order lists the record, and the amount by which passed is ahead of wall.
--
-- A name where few sessions take turns also has all its data in one value.
-- LINE: clock wall fence bound due deadline; arrival recent; the place where the waiters begin; the
--   number of waiters; grants (as in LONE); the number of places; kind; the numbers of sessions,
--   holders and free ranges; the length of the causes; limit held top; then the sessions, the free
--   ranges, the tickets, the waiters in the order of service, the places and the causes. Due is a
--   bound as in HEAD, but on the store's clock. No waiter is parked, and no slot has a name.
-- A session of a line: inbox series; members and digest of its lease, which has the id of its
--   series; last till; ends ends_wall of that lease; the length of its causes.
-- A ticket of a line: the number of its session, the length of about, number permits slot ttl since
--   fence; then about.
-- A waiter of a line: the number of its session, the length of about, number permits ttl digest
--   rank since margin priority; then about.
-- A place of a line, which is the lease under which the waiters of a session stand: the number of
--   its session; members digest ends ends_wall; the id of the lease, without the zeros at its end.

local UNBOUNDED, HALF_DAY, SECOND = 9007199254740992, 43200000000, 1000000
-- Added to ranks in members, whose numbers have no sign. A priority from -100 to 100 moves a rank
-- by at most this much.
local RANK_BIAS = 1000000000
local DIGESTS = 281474976710656
-- Times are microseconds. MOST_ABOUT is bytes. A fence seen above 2^52 is refused, so that Lua can
-- hold every fence exactly.
local MIN_TTL, MAX_TTL, MOST_PERMITS, MOST_ABOUT = 100000, 86400000000, 1000000000, 4096
local MOST_WAITING, MOST_FENCE_SEEN = 4294967295, 4503599627370496
-- The most tickets that one call ends, forgets, parks or grants (see settle).
local WORK = 128
-- The most series that a name remembers, and the most causes that it remembers of each.
local MOST_MEMORIES, MOST_ENDS = 65536, 64
-- With more rows than MOST_ROWS the order lists them. MOST_INLINE is the most bytes of tickets in a
-- record, and MOST_FREE the most free ranges in the head.
local MOST_ROWS, MOST_INLINE, MOST_FREE = 64, 512, 16
local NOBODY = '--------------------------------'
local VERSION = 12
-- A head has this version if the slots of the name have names. Nothing else in the head differs.
local NAMED_VERSION = 16
local HEAD, HEAD_SIZE = '<BFORM_OF_HEADB', 2 + SIZE_OF_HEAD
local RECORD, RECORD_SIZE = '<BI4dI4dddI4dI4c32dI2', 99
local TICKET, TICKET_SIZE = '<I4I4dddI4B', 37
-- A WISHER is a waiter that wishes for certain slots. Its entry has them before about.
local HOLDER, WAITER, WISHER = '<c1c1c32c32dddds', '<c1c1c32c32ddddddc32', '<c1c1c32c32ddddddc32s'
local WAITER_SIZE = 146
-- ASK is an acquire as a store on one server sends it: ticket number, whether its lease is the
-- lease of its series, kind permits rule limit ttl margin not_after, how many may wait at most (-1:
-- the request does not wait), priority place_ttl; then lease and place; then about. ASK_SIZE also
-- counts the word `acquire:` before it.
local ASK, ASK_SIZE = '<c32I4Bc1I4c1I4ddddi4d', 99
local IDLE, IDLE_SIZE, IDLE_VERSION = '<BI4dddddd', 110, 13
local LONE, LONE_MORE, LONE_MORE_AT, LONE_SIZE = '<I4ddddddddd', '<BI4dBI4I4I4dBB', 134, 169
local LONE_VERSION = 14
local FIRST, FIRST_SIZE, FIRST_VERSION = '<BI4ddddBI4I4dddd', 135, 15
local APART_VERSION, CROWD, CROWD_SIZE, CROWD_VERSION = 20, '<BI4dd', 21, 21
-- A call writes only as much of a line's head as it changes: the times, the fields up to
-- LINE_TURN_END, or all fields.
local LINE, LINE_SIZE, LINE_VERSION = '<ddddddddI2BBBBBBBI2I4I4I4', 88, 22
local PACK_LINE, PACK_LINE_TURN = '<BddddddddI2BBBBBBBI2I4I4I4', '<BddddddddI2BBB'
local PACK_LINE_TIMES = '<Bdddddd'
local LINE_TIMES_END, LINE_TURN_END = 49, 70
local LINE_SESSION, SESSION_SIZE, SESSION_CAUSES_AT = '<c32c24BdI4dddI2', 95, 93
local LINE_TICKET, LINE_TICKET_SIZE = '<BBI4I4I4ddd', 38
local LINE_WAITER, LINE_WAITER_SIZE = '<BBI4I4dddddb', 51
local LINE_PLACE, PLACE_SIZE = '<BBdddc24', 50
-- The most bytes of a line, and the most rows of which one is made.
local LONGEST_LINE, MOST_FOLDED = 3072, 24
local PACK_IDLE, PACK_LONE = '<Bc56BI4dddddd', '<Bc56I4dddddddddBI4dBI4I4I4dBB'
-- is_guard_over: the piece over has proved that the restart guard is over. is_apart: lean has
-- joined the value with the field a.
local is_guard_over, is_apart
local MEMBER, FREE = '>c1I8c32', '>c1I8I8'
-- is_packed: the requests came as PLAIN_* (see lean). packed_seen: the fence seen, if the requests
-- came packed. read_now and head_text: the server's clock and the head, if a piece before begin has
-- read them.
local is_packed, packed_seen, read_now, head_text = false, nil, nil, nil
