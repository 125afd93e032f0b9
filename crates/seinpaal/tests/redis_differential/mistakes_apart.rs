//! Mistakes that are planted where the fields that a renewal changes stand apart from the tickets,
//! and the histories that have to find them.

use super::mistakes::Drawn::{self, Holding, HoldingRows, Line};

/// Each mistake: the text, its replacement, and the histories that find it.
pub(super) const APART: &[(&str, &str, Drawn)] = &[
    // Where the tickets are joined again for a request that is no renewal.
    ("and (ARGV[2] or operation ~= 3) then", "and operation ~= 3 then", Holding),
    ("and (ARGV[2] or operation ~= 3) then", "and ARGV[2] then", Holding),
    ("sub(text, 2) .. apart, LONE_VERSION, true", "sub(text, 2), LONE_VERSION, true", Holding),
    ("sub(text, 2) .. apart, LONE_VERSION, true", "sub(text, 2) .. apart, LONE_VERSION", Holding),
    (
        "    if is_apart then try('hdel', key, 'a') end\n    if milliseconds then\n      try('pexpire', key, milliseconds)\n      if ALWAYS_LISTED or form",
        "    if milliseconds then\n      try('pexpire', key, milliseconds)\n      if ALWAYS_LISTED or form",
        Holding,
    ),
    (
        "    if is_apart then try('hdel', key, 'a') end\n    if milliseconds then\n      try('pexpire', key, milliseconds)\n      if ALWAYS_LISTED then try",
        "    if milliseconds then\n      try('pexpire', key, milliseconds)\n      if ALWAYS_LISTED then try",
        Line(2),
    ),
    // Where the tickets go apart, and the lease is renewed.
    ("members > 1 and not is_apart then", "members > 1 then", Holding),
    (
        "sub(text, LONE_SIZE + 1), sub(text, 1, LONE_SIZE)\n      end",
        "sub(text, LONE_SIZE + 9), sub(text, 1, LONE_SIZE)\n      end",
        Holding,
    ),
    (
        "sub(text, LONE_SIZE + 1), sub(text, 1, LONE_SIZE)\n      end",
        "sub(text, LONE_SIZE + 1), text\n      end",
        Holding,
    ),
    ("if form == CROWD_VERSION and now + ttl < ends_wall then break end", "", HoldingRows),
    ("if ALWAYS_LISTED or form == CROWD_VERSION then", "if ALWAYS_LISTED then", HoldingRows),
    // Where head and record of a name with rows become one value.
    ("if past == 1 and open == members and pinned", "if open == members and pinned", HoldingRows),
    ("if past == 1 and open == members and pinned", "if past == 1 and pinned", HoldingRows),
    (
        "and pinned < 0 and stated >= 0 and size < 256 then",
        "and stated >= 0 and size < 256 then",
        HoldingRows,
    ),
    (
        "and pinned < 0 and stated >= 0 and size < 256 then",
        "and pinned < 0 and stated >= 0 then",
        HoldingRows,
    ),
    (
        "fence, bound, deadline, new_ttl, clock + new_ttl, now + new_ttl)",
        "fence, bound, deadline, new_ttl,\n        ends, now + new_ttl)",
        HoldingRows,
    ),
    (
        "fence, bound, deadline, new_ttl, clock + new_ttl, now + new_ttl)",
        "fence, bound, deadline, new_ttl,\n        clock + new_ttl, ends_wall)",
        HoldingRows,
    ),
    ("fence, bound, deadline, new_ttl, ", "fence, UNBOUNDED, deadline, new_ttl,\n", HoldingRows),
    (
        "pack(LONE_MORE, 0, last, till, byte(kind)",
        "pack(LONE_MORE, 0, last, clock, byte(kind)",
        HoldingRows,
    ),
    (
        "byte(kind), stated, held, top, recent, ranges, size)\n",
        "byte(kind), stated, held, held, recent, ranges, size)\n",
        HoldingRows,
    ),
    (
        "byte(kind), stated, held, top, recent, ranges, size)\n",
        "byte(kind), stated, held, top, recent, 0, size)\n",
        HoldingRows,
    ),
    (
        "byte(kind), stated, held, top, recent, ranges, size)\n",
        "byte(kind), stated, held, top, recent, ranges, 0)\n",
        HoldingRows,
    ),
    (
        "byte(kind), stated, held, top, recent, ranges, size)\n",
        "byte(kind), stated, held, top, 0, ranges, size)\n",
        HoldingRows,
    ),
    (
        "pack(CROWD, flags, rows, listed, passed - now)",
        "pack(CROWD, 0, rows, listed, passed - now)",
        HoldingRows,
    ),
    (
        "pack(CROWD, flags, rows, listed, passed - now)",
        "pack(CROWD, flags, 1, listed, passed - now)",
        HoldingRows,
    ),
    (
        "pack(CROWD, flags, rows, listed, passed - now)",
        "pack(CROWD, flags, rows, 0, passed - now)",
        HoldingRows,
    ),
    (
        "pack(CROWD, flags, rows, listed, passed - now)",
        "pack(CROWD, flags, rows, listed, 0)",
        HoldingRows,
    ),
    (
        "sub(text, HEAD_SIZE + 1) .. sub(record, RECORD_SIZE + 1)\n    else",
        "sub(record, RECORD_SIZE + 1)\n    else",
        HoldingRows,
    ),
    (
        "sub(text, HEAD_SIZE + 1) .. sub(record, RECORD_SIZE + 1)\n    else",
        "sub(text, HEAD_SIZE + 1)\n    else",
        HoldingRows,
    ),
    ("    if other == 'a' then try('hdel', key, field) end\n", "", HoldingRows),
    // Where all other pieces read the value.
    (
        "    text, form = sub(text, 1, LONE_SIZE) .. apart, LONE_VERSION",
        "    text, form = sub(text, 1, LONE_SIZE), LONE_VERSION",
        Holding,
    ),
    ("passed = wall + ahead, bound", "passed = wall, bound", HoldingRows),
    ("flags = its_flags, rows = its_rows }", "flags = its_flags, rows = 1 }", HoldingRows),
    ("flags = its_flags, rows = its_rows }", "rows = its_rows }", HoldingRows),
    ("its_listed, size) .. rest", "0, size)\n    .. rest", HoldingRows),
    ("    ledger.is_apart = string.byte(text) >= APART_VERSION\n", "", Holding),
    ("  if is_apart or apart then\n", "  if apart then\n", Holding),
    ("  if is_apart or apart then\n", "  if is_apart then\n", HoldingRows),
];
