-- How a name is stored. README.md has the same as tables.
--
-- The hash of a name has these fields:
--   h       the header, HEAD
--   <ID>    a record: the lease with this id (16 bytes) and the rows of its tickets; if the id ends
--           with the number 0, also the waiters of the series, and what is remembered of it
--   s p n   the limit that callers stated while another one is pinned; the reason of a pause; the
--           names of the slots. Flags in the header say which of them are in force.
--   r       how long the last holds took
--   m       in a cluster, the node where the name is at home, and until when it settles there
-- The order is a sorted set whose scores are all 0. A member is a letter and big-endian numbers:
--   e <due> <ID>              a record, by a lower bound of when something of it ends
--   q <rank> <ID> <number>    a waiter;  k ...: one that is passed over
--   f <first> <last>          free slots below the top
--   z                         in a cluster, so that the key is always there
--
-- Times are microseconds. `clock` is the ledger's clock, which advances by at most `bound` a call.
-- `wall` is the server's clock at the last call. Bounds of ends are on the *steady* clock: the
-- server's clock without its backward steps. A trailer of the header has the sum of those steps,
-- and the last arrival if the clock has not passed it.

local VERSION = 30
-- version, kind (a letter, 0 for none), flags, how often the expiry was set (at most 16); limit,
-- permits held, holders, waiters, the first slot that was never handed out; clock, wall, the last
-- fence, bound, due (nothing ends before it), deadline of the keys, until when anything is
-- remembered; the second, modulo 256, in which the length of a hold was noted last
local HEAD, HEAD_SIZE = '<BBBBI4I4I4I4I4dddddddB', 81
-- Flags of the header: 1 paused, 2 pinned, 4 stated, 8 slots have names. A limit is in force if it is
-- pinned or stated; without either it is 1. The trailer, if there is one, is '<dd', shift and
-- last arrival; and while anybody waits, the order's member of the first waiter, or '-' if all are passed
-- over.

-- The lease: inbox, its end on the ledger's clock and on the server's, the ttl of its requests. The
-- series: the last number that is granted or over, until when it is remembered. The digest of the
-- lease's tickets, their number, the bound under which the order lists the record (0 if it does
-- not), flags, the bytes of about.
local RECORD, RECORD_SIZE = '<c16dddI4ddBdBI2', 72
-- Then: about; if bit 2 of the flags is set, the size (I2) of the reasons of tickets that were not simply
-- released, and these, ascending; WAITING if bit 1 is set; and the rows.
-- A reason is '<I4B'. WAITING is the lease of the series' waiters, '<dddBB': its two ends, digest, number
-- of waiters, of those passed over.

-- A row: number, flags, the bytes that follow it, permits, fence or rank, the first slot.
local ROW, ROW_SIZE = '<I4BI2I4dI4', 23
-- Flags of a row: 1 it waits; 2 it is passed over; 4 the ticket stands under another lease, whose
-- id follows; 8 a ticket of another series, which follows (12 bytes); 16 (to come) evicted, and when
-- its grace ends; 32 a ttl of its own; 64 an about of its own, which comes last; 128 slots in several
-- ranges, or of a waiter the slots that it wants: their number (I2) and the pairs. Of a waiter
-- follow its margin and its priority, before the slots.

-- The client splits its tickets, so a lease has at most 64.

-- The header of a name that is new, and a record that is. (The bytes 64 and 67 are of 2^53.)
local NEW_HEAD = '\30\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\64\67\0\0\0\0\0\0\64\67\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
local NEW_RECORD = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

-- Adds the length of a hold to the last seven (the field r), which are codes of seven bits in one number. A
-- code is the three highest bits of the length. They are only for display, so of the releases in one second
-- the first is noted.
local function with_length(text, took)
  local code, recent = 1, text and struct.unpack('<d', text) or 0
  if took >= 256 then
    local m, e = math.frexp(took)
    code = math.min((e - 9) * 4 + math.floor(m * 8) - 2, 127)
  end
  return struct.pack('<d', recent % 4398046511104 * 128 + code)
end
