//! Mistakes that are planted where a client comes to a line: in the clock, in the session of a
//! request, and where the client is admitted or waits. With the histories that have to find them.

use super::mistakes::Drawn::{self, Line, Pair};

/// Each mistake: the text, its replacement, and the histories that find it.
pub(super) const ENTERING: &[(&str, &str, Drawn)] = &[
    // Where a lone value becomes a line.
    (
        "members, ends, ends_wall, top =\n          45, 0, 0, UNBOUNDED,",
        "members, ends, ends_wall, top = 45, 0, 0, 0,",
        Line(2),
    ),
    ("        causes = sub(text, IDLE_SIZE + 1)\n", "        size = 0\n", Pair),
    (
        "wall, 0, 1, clock + term, wall + term, held",
        "wall, 0, 1, clock + term, wall + 9 * term, held",
        Line(2),
    ),
    (
        "wall, 0, 1, clock + term, wall + term, held",
        "wall, 0, 1, clock + 9 * term, wall + term, held",
        Line(2),
    ),
    (
        "free, causes = sub(text, LONE_SIZE + 1, at - size - 1), sub(text, at - size, at - 1)",
        "free, causes, size = sub(text, LONE_SIZE + 1, at - size - 1), '', 0",
        Pair,
    ),
    (
        "slot, ttl, since, its_fence)\n            .. sub(text, at - about, at - 1)\n        end",
        "0, ttl, since, its_fence) .. sub(text, at - about, at - 1)\n        end",
        Line(2),
    ),
    (
        "        left = ends - clock\n        if left > ends_wall",
        "        left = UNBOUNDED\n        if left > ends_wall",
        Line(2),
    ),
    (
        "        if left > ends_wall - wall then left = ends_wall - wall end\n      end\n      text",
        "      end\n      text",
        Line(2),
    ),
    (
        "      local left = till - clock\n      if members",
        "      local left = UNBOUNDED\n      if members",
        Line(2),
    ),
    ("kind, 1, members,\n        #free / 8, size, limit", "kind, 1, members, 0, size, limit", Pair),
    // In the clock, and in the leases that have run out.
    (
        "    if step < 0 then break end\n    clock = clock + (step < bound and step or bound)\n",
        "    clock = clock + (step < bound and step or bound)\n",
        Line(3),
    ),
    (
        "    if step < 0 then break end\n    clock = clock + (step < bound and step or bound)\n",
        "    if step < 0 then break end\n    clock = clock + step\n",
        Line(3),
    ),
    (
        "    if seen > fence then fence = seen end\n    if now >= due then\n",
        "    if now >= due then\n",
        Line(3),
    ),
    ("    if now >= due then\n      -- Due", "    if now > due then\n      -- Due", Line(3)),
    ("          if ends - clock < left then left = ends - clock end\n", "", Line(3)),
    ("          if ends_wall - now < left then left = ends_wall - now end\n", "", Line(3)),
    (
        "        elseif till > 0 and till - clock < left then\n          left = till - clock\n",
        "",
        Line(3),
    ),
    ("        if ends - clock < left then left = ends - clock end\n", "", Line(3)),
    ("        if ends_wall - now < left then left = ends_wall - now end\n", "", Line(3)),
    (
        "      if left <= 0 then break end\n      due = now + left",
        "      due = now + left",
        Line(3),
    ),
    (
        "      if left <= 0 then break end\n      due = now + left",
        "      if left < 0 then break end\n      due = now + left",
        Line(3),
    ),
    // In the session of a request.
    (
        "if s > LINE_SIZE + count * SESSION_SIZE or byte(text, s + 56) > 0 then",
        "if byte(text, s + 56) > 0 then",
        Line(3),
    ),
    (
        "if s > LINE_SIZE + count * SESSION_SIZE or byte(text, s + 56) > 0 then",
        "if s > LINE_SIZE + count * SESSION_SIZE then",
        Line(3),
    ),
    (
        "            elseif find(text, series, LINE_SIZE + 1, true) then\n              break\n",
        "",
        Line(3),
    ),
    ("if mine > count or mine % 1 > 0 then", "if mine % 1 > 0 then", Line(3)),
    ("if i > 1 then who = sub(line, 18, 73) end", "", Line(3)),
    // Where a client is admitted, or told that all permits are taken.
    (
        "if now > not_after or number <= read('<I4', text, s + 65) then",
        "if number <= read('<I4', text, s + 65) then",
        Line(3),
    ),
    (
        "if now > not_after or number <= read('<I4', text, s + 65) then",
        "if now > not_after then",
        Line(3),
    ),
    (
        "            limit, kind = asked_limit, asked_kind\n          elseif limit ~= asked_limit or kind ~= asked_kind then\n            break\n          end\n          if permits > limit",
        "            kind = asked_kind\n          elseif limit ~= asked_limit or kind ~= asked_kind then\n            break\n          end\n          if permits > limit",
        Line(3),
    ),
    (
        "limit, kind = asked_limit, asked_kind\n          elseif limit ~= asked_limit or kind ~= asked_kind then\n            break\n          end\n          if permits > limit then",
        "limit, kind = asked_limit, asked_kind\n          elseif kind ~= asked_kind then\n            break\n          end\n          if permits > limit then",
        Line(3),
    ),
    (
        "limit, kind = asked_limit, asked_kind\n          elseif limit ~= asked_limit or kind ~= asked_kind then\n            break\n          end\n          if permits > limit then",
        "limit, kind = asked_limit, asked_kind\n          elseif limit ~= asked_limit then\n            break\n          end\n          if permits > limit then",
        Line(3),
    ),
    (
        "          if permits > limit then break end\n          local told",
        "          local told",
        Line(3),
    ),
    (
        "          if permits <= limit - held and waiting == 0 then\n            local free_at",
        "          if permits <= limit - held + 1 and waiting == 0 then\n            local free_at",
        Line(3),
    ),
    (
        "            if held == top then\n              top = held + permits\n            else\n              local low, high = read('<I4I4', text, free_at)",
        "            if true then\n              top = held + permits\n            else\n              local low, high = read('<I4I4', text, free_at)",
        Line(3),
    ),
    (
        "              if low + permits - 1 > high then break end\n              slot = low",
        "              slot = low",
        Line(3),
    ),
    ("              slot = low\n              if low", "              if low", Line(3)),
    (
        "if low + permits <= high then\n                free = pack('<I4I4', low + permits, high)\n              else\n                ranges = ranges - 1\n              end",
        "ranges = ranges - 1",
        Line(3),
    ),
    (
        "              free = free .. sub(text, free_at + 8, tickets_at - 1)\n",
        "              ranges = #free / 8\n",
        Line(3),
    ),
    (
        "            if members == 0 then ends, ends_wall = clock + ttl, now + ttl end\n            if clock + ttl > till",
        "            ends, ends_wall = clock + ttl, now + ttl\n            if clock + ttl > till",
        Line(3),
    ),
    (
        "            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            p1",
        "            fence = fence < now and now or fence + 1\n            p1",
        Line(3),
    ),
    (
        "            fence = fence < now and now or fence + 1\n            p1, p2",
        "            fence = fence < now and now or fence\n            p1, p2",
        Line(3),
    ),
    (
        "pack('<BdI4ddd', members + 1, (digest + mixed) % DIGESTS, number,",
        "pack('<BdI4ddd', members + 1, mixed, number,",
        Line(3),
    ),
    ("size + #free - (tickets_at - free_at)\n            held", "size\n            held", Line(3)),
    (
        "            if now + ttl < due then due = now + ttl end\n            told",
        "            told",
        Line(3),
    ),
    (
        "              if is_waiting then break end\n              if is_new",
        "              if is_new",
        Line(3),
    ),
    (
        "margin = sub(text, LINE_SIZE + 1), UNBOUNDED",
        "_ = sub(text, LINE_SIZE + 1), UNBOUNDED",
        Line(3),
    ),
    // Where a client stands in line.
    ("              if waiting >= most then break end\n", "", Line(3)),
    ("deadline, 0,\n        recent, LINE_SIZE", "deadline, 0, 0,\n        LINE_SIZE", Line(3)),
    (
        "if arrival < clock then arrival = clock else arrival = arrival + 1 end",
        "arrival = arrival + 1",
        Line(3),
    ),
    ("arrival - priority * 10000000, line_at", "arrival + priority * 10000000, line_at", Line(3)),
    (
        "if its_rank == rank or (its == mine and its_number == number) then",
        "if its == mine and its_number == number then",
        Line(3),
    ),
    (
        "if its_rank == rank or (its == mine and its_number == number) then",
        "if its_rank == rank then",
        Line(3),
    ),
    ("                if its_rank > rank and at < before then before = at end\n", "", Line(3)),
    (
        "                if its_rank > rank and at < before then before = at end\n",
        "                if its_rank > rank then before = at end\n",
        Line(3),
    ),
    ("place_ttl <= MAX_TTL) or zeros ~= '00000000' then", "place_ttl <= MAX_TTL) then", Line(3)),
    (
        "              elseif find(text, id, LINE_SIZE + 1, true) then\n                break\n",
        "",
        Line(3),
    ),
    ("                if id ~= known then break end\n", "", Line(3)),
    (
        "DIGESTS, clock + place_ttl,\n                now + place_ttl, id)",
        "DIGESTS, clock + ttl, now + place_ttl, id)",
        Line(3),
    ),
    (
        "DIGESTS, clock + place_ttl,\n                now + place_ttl, id)",
        "DIGESTS, clock + place_ttl, now + ttl, id)",
        Line(3),
    ),
    (
        "              if now + place_ttl < due then due = now + place_ttl end\n              if margin",
        "              if margin",
        Line(3),
    ),
    (
        "              if margin > place_ttl / 2 then margin = (place_ttl - place_ttl % 2) / 2 end\n              told",
        "              told",
        Line(3),
    ),
    (
        "              if margin > place_ttl / 2 then margin = (place_ttl - place_ttl % 2) / 2 end\n              told",
        "              if margin > place_ttl / 2 then margin = place_ttl / 2 end\n              told",
        Line(3),
    ),
    (
        "          if margin < bound then bound = margin end\n          is_done = true\n-- line_release",
        "          is_done = true\n-- line_release",
        Line(3),
    ),
    // In the places, which stand behind the waiters.
    (
        "while place <= #text - tail and byte(text, place) ~= mine do\n              place",
        "while place <= #text - tail do place",
        Line(3),
    ),
    ("                after = place + PLACE_SIZE\n", "", Line(1)),
    ("              if before < place then p4", "              if false then p4", Line(3)),
    ("              if after <= #text then p6", "              if false then p6", Line(3)),
    ("                places = places + 1\n", "                places = 1\n", Line(3)),
    (
        "p5 = pack(LINE_PLACE, mine, waits + 1, (sum + mixed)",
        "p5 = pack(LINE_PLACE, mine, waits + 1, (mixed)",
        Line(2),
    ),
    ("            if sub(text, s, s + 31) ~= asker then break end\n", "", Line(3)),
];
