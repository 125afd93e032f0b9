//! Mistakes that are planted where a line is taken apart into rows, and where rows become a line.
//! With the histories that have to find them.

use super::mistakes::Drawn::{self, FewInLine, Line, TightLine};

/// Each mistake: the text, its replacement, and the histories that find it.
pub(super) const OF_ROWS: &[(&str, &str, Drawn)] = &[
    // Where a line is taken apart.
    (
        "pack(TICKET, number, permits, ttl, since, its_fence, slot, size)\n      .. sub(text, at - size, at - 1)\n  end",
        "pack(TICKET, number, permits, ttl, its_fence, its_fence, slot, size) .. sub(text, at - size, at - 1)\n  end",
        Line(3),
    ),
    ("    tickets[of] = (tickets[of] or '')\n      ..", "    tickets[of] =", Line(1)),
    (
        "past, rows, memory, longest = past + 1, rows + 1, max(memory, till), max(longest, ttl)",
        "past, rows, memory, longest = past, rows + 1, max(memory, till), max(longest, ttl)",
        Line(3),
    ),
    (
        "past, rows, memory, longest = past + 1, rows + 1, max(memory, till), max(longest, ttl)",
        "past, rows, memory, longest = past + 1, rows, max(memory, till), max(longest, ttl)",
        Line(3),
    ),
    (
        "past, rows, memory, longest = past + 1, rows + 1, max(memory, till), max(longest, ttl)",
        "past, rows, longest = past + 1, rows + 1, max(longest, ttl)",
        TightLine,
    ),
    (
        "past, rows, memory, longest = past + 1, rows + 1, max(memory, till), max(longest, ttl)",
        "past, rows, memory = past + 1, rows + 1, max(memory, till)",
        Line(3),
    ),
    (
        "    rows, longest = rows + 1, max(longest, ttl)\n",
        "    longest = max(longest, ttl)\n",
        Line(3),
    ),
    ("    rows, longest = rows + 1, max(longest, ttl)\n", "    rows = rows + 1\n", Line(3)),
    ("    causes_at = causes_at + causes\n", "", Line(3)),
    (
        "fence = fence, due = due, deadline = deadline,\n    memory = memory, longest",
        "fence = fence, due = UNBOUNDED, deadline = deadline, memory = memory, longest",
        Line(3),
    ),
    (
        "arrival = arrival, recent = recent, held = held,\n    holders = holders, waiting = waiting,",
        "recent = recent, held = held,\n    holders = holders, waiting = waiting,",
        Line(3),
    ),
    ("arrival = arrival, recent = recent,", "arrival = arrival,", Line(3)),
    (
        "top = top, rows = rows + waiting }, ranges)\n    .. free,",
        "top = held, rows = rows + waiting }, 0),",
        Line(3),
    ),
    ("      entry.by_rank = nil\n", "", Line(3)),
    ("      ledger.touch(kept)\n    else", "    else", Line(3)),
    (
        "      ledger.put_entry(entry)\n    end\n  end\nend\n\nfunction ledger.read_head",
        "    end\n  end\nend\n\nfunction ledger.read_head",
        Line(3),
    ),
    (
        "not ledger.is_fresh and not ledger.is_line and ledger.has_order()",
        "not ledger.is_fresh and ledger.has_order()",
        Line(3),
    ),
    // Where rows become a line.
    (
        "rows > MOST_FOLDED or flags > 0 or deadline <= 0\n        or",
        "rows > MOST_FOLDED or deadline <= 0 or",
        FewInLine,
    ),
    ("flags > 0 or deadline <= 0\n        or (holders", "flags > 0 or (holders", Line(3)),
    (
        "deadline <= 0\n        or (holders + waiting > 0 and stated < 0) then\n      break\n    end",
        "deadline <= 0 then break end",
        Line(3),
    ),
    ("or #in_line ~= waiting then break end", "then break end", Line(3)),
    ("        is_small = sub(name, 26) == '00000000'\n", "", Line(3)),
    ("        is_small = is_small and not places['r' .. series .. '00000000']\n", "", Line(3)),
    ("is_small and owner == its[1] and owner", "is_small and owner", Line(3)),
    ("next_lease == series .. '00000000' and size", "size", Line(3)),
    (" and size < 256\n", "\n", Line(3)),
    ("digest_of(ticket), rank, since,\n        its_margin", "0, rank, since, its_margin", Line(3)),
    (
        "is_small and place[1] == its.waits and place[5] == owner\n",
        "is_small and place[5] == owner\n",
        Line(3),
    ),
    (
        "is_small and place[1] == its.waits and place[5] == owner\n",
        "is_small and place[1] == its.waits\n",
        Line(3),
    ),
    (
        "    if not is_small or #tickets ~= holders then break end",
        "    if not is_small then break end",
        Line(3),
    ),
    (
        "bound, now + due - passed,\n      deadline, arrival",
        "bound, UNBOUNDED, deadline, arrival",
        Line(3),
    ),
    (
        "deadline, arrival, recent,\n      min(LINE_SIZE",
        "deadline, 0, recent,\n      min(LINE_SIZE",
        Line(3),
    ),
    (
        "deadline, arrival, recent,\n      min(LINE_SIZE",
        "deadline, arrival, 0,\n      min(LINE_SIZE",
        Line(3),
    ),
    ("    try('hdel', records, unpack(gone))\n    if waiting", "    if waiting", Line(3)),
    ("    if waiting > 0 then try('zrem', order, unpack(in_line)) end\n", "", Line(3)),
];
