//! Mistakes that are planted in the scripts, one at a time, and the histories that have to find
//! them.

use super::{
    history::{self, CALM, CALM_CROWD, Event, LARGE, SMALL, Scale},
    line, lone,
};

/// The kinds of histories that are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Drawn {
    Of(Scale),
    /// One session alone.
    Lone,
    /// One session, and a second one now and then.
    Pair,
    /// Four sessions, where few rows count as many.
    Few,
    /// One session that holds many tickets, and renews them again and again. In half of the
    /// histories a second session comes now and then.
    Holding,
    /// A session that holds many tickets, where few rows count as many, and few tickets are more
    /// than one value keeps.
    HoldingRows,
    /// One session, whose keys end as early as on a server's own clock.
    Tight,
    /// So many sessions that hand over to each other.
    Line(usize),
    /// Two sessions that hand over, whose keys end as early as on a server's own clock.
    TightLine,
    /// Three sessions that hand over, where few rows count as many.
    FewInLine,
    /// So many sessions that want different numbers of permits, as readers and writers do.
    Sizes(usize),
    /// So many sessions that want different numbers of permits, at a name that is kept as rows.
    SizesInRows(usize),
    /// So many sessions come while a limit is pinned, and it is unpinned while one of them waits.
    Unpinned(usize),
}

use Drawn::{
    Few, FewInLine, Holding, HoldingRows, Line, Lone, Of, Pair, Sizes, SizesInRows, Tight,
    TightLine, Unpinned,
};

impl From<Scale> for Drawn {
    fn from(scale: Scale) -> Self {
        Of(scale)
    }
}

impl Drawn {
    pub(super) fn history(self, seed: u64) -> Vec<Event> {
        match self {
            Of(scale) => history::history(seed, scale),
            Lone | Tight => lone::history(seed, 1),
            Pair => lone::history(seed, 2),
            Few => lone::history(seed, 4),
            Holding | HoldingRows => lone::holding_history(seed, 1 + seed as usize % 2),
            Line(sessions) => line::history(seed, sessions),
            TightLine => line::history(seed, 2),
            FewInLine => line::history(seed, 3),
            Unpinned(sessions) => line::history_of_an_unpin(seed, sessions),
            Sizes(sessions) | SizesInRows(sessions) => line::history_of_sizes(seed, sessions),
        }
    }
}

/// For these scripts a few rows, short records and two free ranges count as many, so that hardly a
/// history is without them.
pub(super) const FEW_ARE_MANY: (&str, &str) = ("MOST_FREE = 64, 512, 16", "MOST_FREE = 4, 120, 2");

/// Six tickets, or few bytes, are more than one value can keep.
pub(super) const FEW_FIT: (&str, &str) =
    ("LONGEST_LONE, MOST_SHORT = 80, 6144, 16", "LONGEST_LONE, MOST_SHORT = 6, 400, 16");

/// A few bytes are more than one line can keep.
pub(super) const FEW_IN_LINE: (&str, &str) = ("MOST_FOLDED = 3072, 24", "MOST_FOLDED = 600, 5");

/// No name becomes a line, so that the usual calls are executed at rows.
pub(super) const NO_LINES: (&str, &str) = ("MOST_FOLDED = 3072, 24", "MOST_FOLDED = 0, 0");

/// Counts the renewals that read and write no tickets.
pub(super) const TALLIES_OF_RENEWALS: (&str, &str) = (
    "      value = pack(PACK_RENEWED_WHOLE, form, owner",
    "      if form >= APART_VERSION then try('incr', 'tally') end\n      value = pack(PACK_RENEWED_WHOLE, form, owner",
);

/// Counts the calls that are executed at a line.
pub(super) const TALLIES: (&str, &str) = (
    "    if not said and look < 0 then return now end",
    "    try('incr', 'tally')\n    if not said and look < 0 then return now end",
);

impl Drawn {
    /// Other changes of the scripts.
    pub(super) fn changes(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Few => vec![FEW_ARE_MANY, NO_LINES],
            HoldingRows => vec![FEW_ARE_MANY, FEW_FIT],
            FewInLine => vec![FEW_ARE_MANY],
            Of(scale) if scale.is_calm => vec![NO_LINES],
            Lone => vec![NO_LINES],
            Tight => vec![("(given < 0 and SECOND or HALF_DAY)", "SECOND"), NO_LINES],
            SizesInRows(_) => vec![NO_LINES],
            TightLine => vec![("(given >= 0 and HALF_DAY or SECOND)", "SECOND")],
            _ => vec![],
        }
    }
}

/// Each mistake: the text, its replacement, and the histories that find it.
pub(super) const MISTAKES: &[(&str, &str, Drawn)] = &[
    ("local WORK = 128", "local WORK = 127", Of(LARGE)),
    ("record.lease.ends <= head.clock and", "record.lease.ends < head.clock and", Of(SMALL)),
    ("  ledger.expire_by_wall()\n", "", Of(SMALL)),
    ("min(want.margin, floor(want.waiter_ttl / 2))", "want.margin", Of(SMALL)),
    ("head.arrival - want.priority", "head.arrival + want.priority", Of(SMALL)),
    (
        "if entry.parked == '1' then lease.parked",
        "if entry.parked == '2' then lease.parked",
        Of(SMALL),
    ),
    ("ahead >= 0 and ahead <= HALF_DAY + HALF_DAY and ahead + 1 or 0", "0", Of(SMALL)),
    ("  head.stated = nil\n", "", Of(SMALL)),
    ("          stated = -1\n", "", Of(CALM)),
    (
        "want.rule == 'E' or (want.rule == 'R' and not head.pinned)",
        "want.rule == 'E' or want.rule == 'R'",
        Of(SMALL),
    ),
    (
        "elseif not head.pinned then head.stated = limit end",
        "else head.stated = limit end",
        Of(SMALL),
    ),
    // Mistakes in tickets that change hands.
    ("elseif ledger.me then\n    return 'attached'", "elseif not ledger.me then", Of(SMALL)),
    ("if before.inbox ~= ledger.me then", "if before.inbox then", Of(SMALL)),
    ("ledger.raise(want.lease, want.ttl, 0, 'attached')", "ledger.work = WORK", Of(SMALL)),
    // Mistakes in the memory of series.
    ("'released' then table.insert", "'released' and false then table.insert", Of(SMALL)),
    ("max(memory.last, number), max", "number, max", Of(SMALL)),
    ("max(memory['until'], head.clock + ttl)", "head.clock + ttl", Of(SMALL)),
    ("ledger.raise(entry.ticket, entry.ttl, 1)", "ledger.work = WORK", Of(SMALL)),
    (
        "ledger.raise(refused, time, 0, not ledger.cause_of(refused) and 'cancelled' or nil)",
        "ledger.work = WORK",
        Of(SMALL),
    ),
    ("if keeper ~= inbox or what < 3", "if what < 3", Of(SMALL)),
    ("(not attach or entry.lease == attach)", "true", Of(SMALL)),
    ("(ledger.is_fresh or owed(head) == 0)", "owed(head) == 0", Of(SMALL)),
    // Mistakes on the plain path.
    ("slot, free = lowest, sub(free, 9)", "slot, free = highest, sub(free, 9)", Of(CALM)),
    ("margin, floor(place_ttl / 2)", "margin, place_ttl", Of(CALM)),
    ("holders, held, is_blocked = holders - 1,", "holders, held, is_blocked = holders,", Of(CALM)),
    ("min(clock + term, place_ends),", "clock + term,", Of(CALM_CROWD)),
    ("if members ~= count + 0 or digest", "if digest", Of(CALM)),
    ("if what < 2 or by ~= inbox or ttl", "if what < 2 or ttl", Of(CALM)),
    ("if deadline <= 0 or left < need", "need, most = 99999, 99999 if true", Of(SMALL)),
    ("or number <= last then break end", "then break end", Of(SMALL)),
    ("max(till, clock + ttl), open + 1", "max(till, clock + ttl), open", Of(CALM)),
    ("% DIGESTS,\n          open - 1,", "% DIGESTS, open,", Of(CALM)),
    ("if passed >= due then break end", "", Of(SMALL)),
    ("due = min(due, ending)", "", Of(CALM)),
    ("if due - passed < bound then break end", "", Of(CALM)),
    // Mistakes on the lean path.
    ("or number <= last or permits < 1 then", "or permits < 1 then", Lone),
    ("if now > not_after or number", "if number", Lone),
    ("if step < 0 or step >= left or", "if step < 0 or", Lone),
    ("if step < 0 or step >= left or", "if step >= left or", Lone),
    ("clock + (step < bound and step or bound)", "clock + step", Lone),
    ("if seen > fence then fence = seen end", "", Lone),
    ("fence < now and now or fence + 1", "fence < now and now or fence", Lone),
    ("          if held == top then", "          if true then", Lone),
    ("if clock + its_ttl > till then till", "if false then till", Lone),
    ("if clock + term > till then till", "if false then till", Lone),
    ("members ~= number or digest ~= mixed", "members ~= number", Lone),
    ("members ~= number or digest ~= mixed", "digest ~= mixed", Lone),
    ("if margin < bound then bound = margin end", "", Lone),
    ("if left > ends_wall - wall then left = ends_wall - wall end", "", Lone),
    ("left, from = ends - clock, LONE_SIZE", "left, from = UNBOUNDED, LONE_SIZE", Lone),
    (
        "if held == 0 then\n            if asked_limit",
        "if true then\n            if asked_limit",
        Lone,
    ),
    ("permits > limit - held or members", "permits > limit - held + 1 or members", Lone),
    (
        "elseif limit ~= asked_limit or kind ~= asked_kind then",
        "elseif kind ~= asked_kind then",
        Lone,
    ),
    ("held > 0 or fence ~= now or size > 0", "held > 0 or size > 0", Lone),
    ("held > 0 or fence ~= now or size > 0", "held > 0 or fence ~= now", Lone),
    ("elseif last_slot + 1 == top then", "elseif true then", Lone),
    ("slot, low = low, low + permits", "slot, low = high, low + permits", Lone),
    ("if low > high then low = nil end\n            if others", "if others", Lone),
    ("if low > high then low = nil end\n            if others", "low = nil\n if others", Lone),
    ("if others ~= '' then", "if false then", Lone),
    ("low and pack('<I4I4', low, high) .. others or others", "others", Lone),
    ("low, high = read('<I4I4', text, LONE_SIZE + 1)", "", Lone),
    ("elseif not low and free == '' then", "elseif not low then", Lone),
    ("elseif low and high + 1 == first then", "elseif low then", Lone),
    ("if low then free, low = pack('<I4I4', low, high), nil end", "", Lone),
    ("top, free, low = 0, '', nil", "top, free = 0, ''", Lone),
    ("local ranges = low and pack('<I4I4', low, high) or free", "local ranges = free", Lone),
    ("added[3] = value, ranges, rest", "added[3] = value, rest, ranges", Lone),
    ("if its_last + 1 >= first then break end", "", Lone),
    ("first, rest = its_first, rest + 8", "rest = rest + 8", Lone),
    ("last_slot, rest = its_last, rest + 8", "rest = rest + 8", Lone),
    ("if at == from + 1 then", "if true then", Lone),
    (
        "wall, wall, 0, #text - FIRST_SIZE)\n            .. sub(text, FIRST_SIZE + 1), 0",
        "wall, fence, 0, 0), 0",
        Lone,
    ),
    ("if need <= fence - now then need = fence - now + 1 end", "", Tight),
    ("      need = till - clock", "      need = 1", Tight),
    ("if left < need or left > most and", "if left > most and", Tight),
    ("      most = need + HALF_DAY", "      most = need - HALF_DAY", Lone),
    (
        "is_done =\n                held - its_permits, members - 1",
        "is_done = held, members - 1",
        Lone,
    ),
    ("operation > 4 or size < least", "operation > 4 or size > least", Lone),
    ("'release %s%08x all', series", "'release %s%08x all', series .. 'x'", Lone),
    ("00000000 %.0f %.0f all", "00000001 %.0f %.0f all", Pair),
    // Mistakes in the renewal of a lease beside others.
    ("members ~= count or digest ~= sum", "members ~= count", Few),
    ("members ~= count or digest ~= sum", "digest ~= sum", Few),
    ("if inbox ~= asker then break end", "", Few),
    ("open, new_ttl, clock + new_ttl,\n        now", "open, new_ttl, ends, now", Few),
    ("      if due <= passed then break end\n", "", Few),
    ("if passed >= due then\n      -- Only", "if false then\n      -- Only", Few),
    ("is_wide and ends > clock and ends_wall > now\n        and try", "is_wide and try", Few),
    (
        "clock, wall, passed = clock + (step < bound and step",
        "clock, wall, passed = clock + (true and step",
        Few,
    ),
    // A mistake in renewals of tickets some of which another client keeps.
    ("renew.holds and renew.ttl or UNBOUNDED", "UNBOUNDED", Of(SMALL)),
    // Mistakes where a lone value is taken apart and made again.
    ("if now and find(line, start, 2, true) ~= 2 then break end", "", Pair),
    ("find(text, owner, 2, true) ~= 2", "false", Pair),
    ("wall + ahead + min(ends - clock, ends_wall - wall)", "UNBOUNDED", Pair),
    ("due = wall + till - clock,", "due = UNBOUNDED,", Pair),
    ("and is_changed and rows == 1 and", "and is_changed and", Pair),
    ("(held == 0 or (what == 3 and by == inbox and stated >= 0))", "true", Pair),
    ("flags == 0 and deadline > 0", "deadline > 0", Few),
    ("flags == 0 and deadline > 0", "flags == 0", Pair),
    (" and #causes < 256", "", Lone),
    ("#free / 8, #causes) .. free .. causes", "0, #causes) .. causes", Pair),
    (
        "top = top,\n    flags = its_flags, rows = its_rows }, ranges) .. free",
        "top = held,\n    flags = its_flags, rows = its_rows }, 0)",
        Pair,
    ),
    // Mistakes in the lengths of holds.
    ("if cause == 'released' and entry.fence then", "if entry.fence then", Of(SMALL)),
    ("if cause == 'released' and entry.fence then", "if cause == 'released' then", Of(SMALL)),
    ("{ head.recent, now - entry.since }", "{ head.recent, now - head.clock }", Of(SMALL)),
    ("          NOTE_HOLD{ recent, now - wall }\n", "", Lone),
    ("NOTE_HOLD{ recent, now - wall }", "NOTE_HOLD{ recent, term }", Lone),
    ("              NOTE_HOLD{ recent, now - since }\n", "", Lone),
    ("its_ttl, since, _, first, its_size", "since, its_ttl, _, first, its_size", Lone),
    ("digest, recent, about)", "digest, 0, about)", Lone),
    ("deadline, till,\n        recent) .. rest", "deadline, till, 0) .. rest", Lone),
    ("top, recent,\n        #ranges / 8, size)", "top, 0, #ranges / 8, size)", Lone),
    ("memory = till, recent = recent,\n    past", "memory = till, past", Pair),
    ("longest = ttl, recent = recent, held", "longest = ttl, held", Pair),
    ("NOTE_HOLD{ recent, now - since }\n        memory, is", "memory, is", Of(CALM)),
    ("its_ttl, began, its_fence, its_slot\n", "its_ttl, now, its_fence, its_slot\n", Of(CALM)),
    ("permits, ttl, since, old_fence, slots", "permits, since, ttl, old_fence, slots", Of(CALM)),
    ("deadline, till, recent)\n        .. causes", "deadline, till, 0) .. causes", Pair),
    ("held, top, recent,\n        #free / 8, #causes)", "held, top, 0, #free / 8, #causes)", Pair),
    // Mistakes in the members of the order.
    ("if is_wide and (listed == 0 or ending < listed)", "if false", Of(CALM_CROWD)),
    ("pack(MEMBER, 'g', old_fence, ticket)", "pack(MEMBER, 'g', fence, ticket)", Of(CALM_CROWD)),
    ("left = min(left, memory['until'] - head.clock)", "left = left", Of(SMALL)),
    ("min(lease.ends - head.clock, lease.ends_wall - now)", "lease.ends_wall - now", Of(SMALL)),
    ("lease.inbox ~= entry.inbox or", "", Of(SMALL)),
];
