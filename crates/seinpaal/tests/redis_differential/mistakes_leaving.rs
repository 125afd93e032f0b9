//! Mistakes that are planted where a client at a line gives back or renews, and where the line is
//! written. With the histories that have to find them.

use super::mistakes::Drawn::{self, Line, TightLine};

/// Each mistake: the text, its replacement, and the histories that find it.
pub(super) const LEAVING: &[(&str, &str, Drawn)] = &[
    // Where permits are given back.
    (
        "            if its == mine then\n              its_number, permits",
        "            if true then\n              its_number, permits",
        Line(2),
    ),
    (
        "          if at >= line_at then break end\n          local members",
        "          local members",
        Line(3),
    ),
    (
        "members, digest, from = members - 1, (digest - mixed) % DIGESTS, LINE",
        "members, digest, from = members - 1, digest, LINE",
        Line(3),
    ),
    (
        "          if clock + its_ttl > till then till = clock + its_ttl end\n          if members == 0",
        "          if members == 0",
        Line(3),
    ),
    (
        "            if now + till - clock < due then due = now + till - clock end\n          end\n          local heir",
        "          end\n          local heir",
        Line(3),
    ),
    (
        "              top, free = 0, ''\n            elseif slot + permits == top then\n              top = slot\n            else\n              local place",
        "              top = 0\n            elseif slot + permits == top then\n              top = slot\n            else\n              local place",
        Line(3),
    ),
    (
        "            elseif slot + permits == top then\n              top = slot\n            else\n              local place",
        "            elseif true then\n              top = slot\n            else\n              local place",
        Line(3),
    ),
    (
        "while place < #free and read('<I4', free, place) < slot do place = place + 8 end",
        "while place < #free do place = place + 8 end",
        Line(4),
    ),
    (
        "          NOTE_HOLD{ recent, now - since }\n          members, digest",
        "          members, digest",
        Line(3),
    ),
    ("its_ttl, since = read('<I4I4I4dd'", "since, its_ttl = read('<I4I4I4dd'", Line(3)),
    // Where permits are handed over.
    (
        "if wanted ~= permits or held ~= limit or top ~= held or message then",
        "if held ~= limit or top ~= held or message then",
        Line(3),
    ),
    (
        "if wanted ~= permits or held ~= limit or top ~= held or message then",
        "if wanted ~= permits or top ~= held or message then",
        Line(3),
    ),
    (
        "if wanted ~= permits or held ~= limit or top ~= held or message then",
        "if wanted ~= permits or held ~= limit or message then",
        Line(3),
    ),
    (
        "if wanted ~= permits or held ~= limit or top ~= held or message then",
        "if wanted ~= permits or held ~= limit or top ~= held then",
        Line(3),
    ),
    (
        "              if LISTENERS and (not listeners or listeners == 0) then break end\n",
        "",
        Line(3),
    ),
    (
        "            if heir ~= mine then\n              local listeners",
        "            if true then\n              local listeners",
        Line(1),
    ),
    (
        "            if members == 0 then\n              ends, ends_wall = clock + ttl, now + ttl\n              if place_ends",
        "            if true then\n              ends, ends_wall = clock + ttl, now + ttl\n              if place_ends",
        Line(2),
    ),
    ("              if place_ends < ends then ends = place_ends end\n", "", Line(3)),
    ("              if place_wall < ends_wall then ends_wall = place_wall end\n", "", Line(3)),
    (
        "              if now + ttl < due then due = now + ttl end\n            end\n            if its",
        "            end\n            if its",
        Line(3),
    ),
    (
        "            if its_number > last then last = its_number end\n",
        "            last = its_number\n",
        Line(3),
    ),
    ("            if its_number > last then last = its_number end\n", "", Line(3)),
    (
        "            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            if",
        "            fence = fence < now and now or fence + 1\n            if",
        Line(3),
    ),
    (
        "members + 1, (digest + its_mixed) % DIGESTS, last,",
        "members + 1, its_mixed, last,",
        Line(2),
    ),
    ("pack('<BBd', heir, waits - 1,", "pack('<BBd', heir, waits,", Line(3)),
    ("heir, waits - 1, (sum - its_mixed) % DIGESTS)", "heir, waits - 1, sum)", Line(1)),
    (
        "            fence = fence < now and now or fence + 1\n            if not ARGV",
        "            fence = fence < now and now or fence\n            if not ARGV",
        Line(3),
    ),
    (
        "p7 = sub(text, line_at + LINE_WAITER_SIZE, first_end - 1)",
        "p7 = sub(text, line_at, line_at + size - 1)",
        Line(3),
    ),
    (
        "line_at, waiting, uses = line_at - (after - at) + LINE_TICKET_SIZE + size,",
        "line_at, waiting, uses = line_at,",
        Line(3),
    ),
    (
        "permits == 1 and 'granted %s%08x %d %d %d ' or",
        "true and 'granted %s%08x %d %d %d ' or",
        Line(4),
    ),
    // In renewals and proofs.
    (
        "if members == 0 or members ~= number or digest ~= mixed then break end\n            fields_at",
        "if members == 0 or digest ~= mixed then break end\n            fields_at",
        Line(2),
    ),
    (
        "if members == 0 or members ~= number or digest ~= mixed then break end\n            fields_at",
        "if members == 0 or members ~= number then break end\n            fields_at",
        Line(2),
    ),
    (
        "if members == 0 or members ~= number or digest ~= mixed then break end\n            fields_at",
        "if members ~= number or digest ~= mixed then break end\n            fields_at",
        Line(2),
    ),
    (
        "              if its == mine then\n                its_number, permits",
        "              if true then\n                its_number, permits",
        Line(2),
    ),
    (
        "            if at >= line_at then break end\n            local told",
        "            local told",
        Line(3),
    ),
    ("pack('<dd', clock + ttl, now + ttl),", "pack('<dd', clock, now + ttl),", Line(3)),
    ("pack('<dd', clock + ttl, now + ttl),", "pack('<dd', clock + ttl, now),", Line(3)),
    ("(ARGV[2] and LINE_SIZE or LINE_TIMES_END) + 1", "LINE_TIMES_END + 1", Line(3)),
    (
        "          if now + ttl < due then due = now + ttl end\n          if margin",
        "          if margin",
        Line(3),
    ),
    (
        "          if margin < bound then bound = margin end\n          is_done = true\n        end",
        "          is_done = true\n        end",
        Line(3),
    ),
    (
        "        p1, p2, p3, p4, p5, p6, p7, p8 = '', '', '', '', '', '', '', ''\n      end\n",
        "      end\n",
        Line(3),
    ),
    // In the owner of the place, and in the part of the head that is written.
    ("while place < #text and byte(text, place) ~= heir do", "while false do", Line(3)),
    ("            if waits > 1 then\n", "            if true then\n", Line(3)),
    (
        "p8, places = sub(text, place + PLACE_SIZE), places - 1\n",
        "p8 = sub(text, place + PLACE_SIZE)\n",
        Line(3),
    ),
    ("            if first_end < place then p8", "            if false then p8", Line(3)),
    ("            if after < line_at then p5", "            if false then p5", Line(3)),
    ("            if heir > mine then\n", "            if heir ~= mine then\n", Line(3)),
    ("            elseif heir < mine then\n", "            elseif false then\n", Line(3)),
    ("if not (ARGV[2] or is_new) then from", "if not is_new then from", Line(3)),
    (
        "            if not ARGV[2] then from = LINE_TURN_END + 1 end\n",
        "            from = LINE_TURN_END + 1\n",
        Line(3),
    ),
    (
        "pack(PACK_LINE_TURN, LINE_VERSION, clock, now, fence, bound, due, deadline, arrival,\n          recent,",
        "pack(PACK_LINE_TURN, LINE_VERSION, clock, now, fence, bound, due, deadline, arrival, 0,",
        Line(3),
    ),
    // Where the line is written, and where the next look is computed.
    ("deadline, till_then, recent) .. p6", "deadline, till_then, 0) .. p6", Line(3)),
    (
        "deadline, arrival,\n          recent, line_at, waiting, uses, places, kind, ",
        "deadline, arrival, 0, line_at, waiting, uses, places, kind,\n",
        Line(3),
    ),
    (
        "      bound, need = UNBOUNDED, till_then - clock\n",
        "      need = till_then - clock\n",
        Line(3),
    ),
    (
        "      bound, need = UNBOUNDED, till_then - clock\n",
        "      bound, need = UNBOUNDED, 1\n",
        TightLine,
    ),
    ("        if till - clock > need then need = till - clock end\n", "", TightLine),
    (
        "      if need <= ahead and ahead <= HALF_DAY + HALF_DAY then need = ahead + 1 end\n      most",
        "      most",
        TightLine,
    ),
    ("      need = MAX_TTL + HALF_DAY\n", "      need = HALF_DAY\n", Line(3)),
    (
        "    if is_idle and count == 1 and tail < 256 then",
        "    if is_idle and count == 1 then",
        Line(3),
    ),
    (
        "    if is_idle and count == 1 and tail < 256 then",
        "    if is_idle and tail < 256 then",
        Line(3),
    ),
    ("if not (ARGV[2] or is_new) then from", "if not ARGV[2] then from", Line(3)),
    (
        "      look = bound\n      if due - now < bound then\n        for",
        "      look = bound\n      if false then\n        for",
        Line(3),
    ),
    (
        "          if members > 0 and ends - clock < look then look = ends - clock end\n",
        "",
        Line(3),
    ),
    ("          if ends - clock < look then look = ends - clock end\n", "", Line(3)),
    ("      if look < 1 then look = 1 end\n", "", Line(3)),
    ("if first and (first == mine or sub(value,", "if first and (true or sub(value,", Line(3)),
    ("inbox_at + 31) == sub(who, 1, 32)) then", "inbox_at + 31) == nil) then", Line(3)),
    (
        "    if not said and look < 0 then return now end",
        "    if not said then return now end",
        Line(3),
    ),
];
