-- forms: the formats of the records of a queue and of the requests, and the bounds of both.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing: constants are written where they are used
--
-- `struct` packs records and members. Numbers in members are big-endian, so that members stand in
-- the order of their numbers. Numbers of items and fences are exact, because they stay below 2^53.
-- The first argument is START and then the requests, packed one after the other. START: now, or
-- below zero for the server's clock; the number of the batch, its deadline, the highest number
-- seen; and the field of the session.
--
-- Each request begins with the number of its kind. The usual kinds are packed, because reading
-- words out of a line costs much:
--   PUSH: priority most about. PUSH_MORE is a PUSH, and then MORE_TERMS: how it is due and when,
--     window group key.
--   DONE: a delivery as the list behind a head has it, which is number and fence.
--   POP: items ttl margin wait drains about. POPPED, in the answer: number fence pushed attempt
--     most priority about.
--   RENEW: ttl margin deliveries.
--   WORDS: all other requests, as words.

local UNBOUNDED, HALF_DAY = 9007199254740992, 43200000000
local AGING, CALL_WAIT, PLACE_TTL = 60000000, 1000000, 180000000
local WORK, FORGET, MOST_PAYLOAD, MOST_SEEN, PREVIEW = 128, 4, 4194304, 4503599627370496, 256
local MOST_RENEWED = 500
local MIN_TTL, MAX_TTL, MOST_ITEMS, MOST_BYTES, MOST_TEXT = 100000, 86400000000, 64, 1048576, 4096
local MOST_DELIVERIES, MAX_WINDOW, MOST_LIMIT, MOST_PAST = 1000000, 604800000000, 1000000000, 8
-- Added to ranks in members, whose numbers have no sign.
local RANK_BIAS = 10000000000
local NOBODY = '--------------------------------'
-- HEAD: version, whether MORE follows, and the fields of the head (head.rs lists them). MORE
-- follows only while one of its fields has a value. Otherwise up to MOST_LISTED deliveries in work
-- may follow (see state). Behind ITEM stands WORKED if the item is in work, and one time, when it
-- is due or died, if it is delayed or dead. Texts come last, so that everything else stands at the
-- same place in each.
local VERSION, HEAD, HEAD_BYTES, MORE = 5, '<BBFORM_OF_HEAD', 2 + SIZE_OF_HEAD, '<ddddc32I4c0I4c0'
local ITEM, ITEM_BYTES, WORKED, WORKED_BYTES = '<c1bI4I4I4ddHHHHH', 40, '<dddddc32', 72
local ITEM_AND_ABOUT, ITEM_AT_WORK = '<c1bI4I4I4ddHHHHHc0', '<c1bI4I4I4ddHHHHHdddddc32c0c0'
local HEAD_AND_LIST = '<BBFORM_OF_HEADc0'
local GROUP, KEY = '<ddd', '<dd'
-- SESSION ends with the last answers of the session: lines of words, or if the straight path
-- answered, KEPT_* with the kind of each request and its answer; of DONE the request itself.
local SESSION, SESSION_BYTES, SESSION_AND_KEPT = '<ddd', 24, '<dddc0'
local KEPT_PUSHED, KEPT_RENEWED, KEPT_POPPED = '<BdB', '<Bd', '<BI4c0'
local START, START_BYTES = '<ddddc33', 65
local PUSH, DONE, POP, RENEW, PUSH_MORE, WORDS = 1, 2, 3, 4, 5, 6
local PUSH_TERMS, POP_TERMS, RENEW_TERMS = '<BbI4I4c0', '<BBddBBI4c0', '<BddI4c0'
local MORE_TERMS = '<BddI4c0I4c0'
local DELIVERY, POPPED, WORDS_TERMS = '>I8I8', '<c8ddI4I4bc0', '<BI4c0'
local MOST_LISTED, LISTED_BYTES, ENTRY = 64, 16, '................'
local NUMBER, TWO, OPEN = '>I8', '>I8I8', '>c1I8c8'
