//! Mistakes that are planted where waiters want another number of permits than is given back, and
//! the histories that have to find them.

use super::mistakes::Drawn::{self, Sizes, SizesInRows};

/// Each mistake: the text, its replacement, and the histories that find it.
pub(super) const OF_SIZES: &[(&str, &str, Drawn)] = &[
    // Where the first waiter wants more permits than are free.
    (
        "BEFORE_INBOX) .. INBOX .. inbox)[2]\n        if not listeners or listeners == 0 then break end\n",
        "BEFORE_INBOX) .. INBOX .. inbox)[2]\n",
        Sizes(3),
    ),
    (
        "if ARGV[2] or byte(line) < 3 or waiting > 0 then\n      limit",
        "if ARGV[2] or byte(line) < 3 then limit",
        Sizes(3),
    ),
    (
        "if permits <= limit - held and waiting == 0 then",
        "if permits <= limit - held then",
        Sizes(3),
    ),
    (
        "if not at or (before == line_at and permits <= limit - held) then break end",
        "if not at then break end",
        Sizes(3),
    ),
    ("#free / 8, till, waiting > 0\n", "#free / 8, till, false\n", Sizes(3)),
    // Where a line grants free slots to waiters.
    (
        "            if LISTENERS and inbox ~= sub(who, 1, 32) then\n              local listeners = try('pubsub', LISTENERS, channel)[2]\n              if not listeners or listeners == 0 then break end\n            end\n            -- The limit",
        "            -- The limit",
        Sizes(3),
    ),
    ("            if wanted > limit then break end\n", "", Sizes(4)),
    (
        "            if wanted > limit - held then break end\n            local free_at",
        "            local free_at",
        Sizes(3),
    ),
    (
        "            if wanted > limit - held then break end\n            local free_at",
        "            if wanted >= limit - held then break end\n            local free_at",
        Sizes(3),
    ),
    (
        "              top = held + wanted\n            else\n              local low",
        "              top = wanted\n            else\n              local low",
        Sizes(3),
    ),
    ("is_done = low + wanted - 1 <= high", "is_done = true", Sizes(3)),
    (
        "pack('<I4I4', low + wanted, high)\n              else\n                ranges = ranges - 1\n              end\n              free = free",
        "pack('<I4I4', low + wanted, high) else ranges = ranges end\n              free = free",
        Sizes(3),
    ),
    (
        "if low + wanted <= high then\n                free",
        "if low + wanted < high then free",
        Sizes(3),
    ),
    (
        "              if place_ends < ends then ends = place_ends end\n              if place_wall < ends_wall then ends_wall = place_wall end\n              if now + ttl < due then due = now + ttl end\n            end\n            if its_number > last then last = its_number end\n            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            local left",
        "              if now + ttl < due then due = now + ttl end\n            end\n            if its_number > last then last = its_number end\n            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            local left",
        Sizes(3),
    ),
    (
        "              if now + ttl < due then due = now + ttl end\n            end\n            if its_number > last then last = its_number end\n            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            local left",
        "            end\n            if its_number > last then last = its_number end\n            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            local left",
        Sizes(3),
    ),
    (
        "            if its_number > last then last = its_number end\n            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            local left",
        "            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            local left",
        Sizes(3),
    ),
    (
        "            if clock + ttl > till then till = clock + ttl end\n            fence = fence < now and now or fence + 1\n            local left",
        "            fence = fence < now and now or fence + 1\n            local left",
        Sizes(3),
    ),
    (
        "            fence = fence < now and now or fence + 1\n            local left",
        "            fence = fence + 1\n            local left",
        Sizes(3),
    ),
    (
        "              left = pack('<BBd', heir, waits - 1, (sum - its_mixed) % DIGESTS)",
        "              left = pack('<BBd', heir, waits, (sum - its_mixed) % DIGESTS)",
        Sizes(3),
    ),
    (
        "              left = pack('<BBd', heir, waits - 1, (sum - its_mixed) % DIGESTS)",
        "              left = pack('<BBd', heir, waits - 1, sum)",
        Sizes(3),
    ),
    (
        "            else\n              places = places - 1\n            end\n            text",
        "            end\n            text",
        Sizes(3),
    ),
    (
        "sub(text, 1, h + 55)\n              .. pack('<BdI4ddd', members + 1, (digest + its_mixed) % DIGESTS,",
        "sub(text, 1, h + 55) .. pack('<BdI4ddd', members + 1, digest,",
        Sizes(3),
    ),
    (
        "+ size + #free - (tickets_at - free_at)\n            held, holders, waiting",
        "+ size\n            held, holders, waiting",
        Sizes(3),
    ),
    (
        "held, holders, waiting, uses = held + wanted, holders + 1, waiting - 1,",
        "held, holders, waiting, uses = held + wanted, holders, waiting - 1,",
        Sizes(3),
    ),
    (
        "            messages[#messages + 1] = channel\n            messages",
        "            messages[#messages + 1] = ''\n            messages",
        Sizes(3),
    ),
    (
        "slot,\n              wanted == 1 and limit or slot + wanted - 1, limit) .. key\n            serves",
        "slot, slot + wanted - 1, limit) .. key\n            serves",
        Sizes(3),
    ),
    (
        "            serves = waiting > 0 and held < limit\n",
        "            serves = false\n",
        Sizes(4),
    ),
    (
        "        if not is_done then break end\n      end\n      i = i + 1\n      line = ARGV[i]",
        "      end\n      i = i + 1\n      line = ARGV[i]",
        Sizes(3),
    ),
    (
        "for k = 1, messages and #messages or 0, 2 do try(PUBLISH, messages[k], messages[k + 1]) end\n    if not said",
        "if not said",
        Sizes(3),
    ),
    // Where rows grant free slots to waiters.
    (
        "has_queued and {}\n        or try('zrangebylex', order, '[q', '(r', 'limit', handed",
        "try('zrangebylex', order, '[q', '(r', 'limit', handed",
        SizesInRows(3),
    ),
    ("'limit', handed, '2'", "'limit', 0, '2'", SizesInRows(4)),
    ("if to ~= NOBODY and to ~= asker and LISTENERS then", "if false then", SizesInRows(3)),
    (
        "if to ~= NOBODY and to ~= asker and LISTENERS then",
        "if to ~= NOBODY and LISTENERS then",
        SizesInRows(3),
    ),
    (
        "if not wanted or wanted > limit or not listeners or listeners == 0 then\n        i = 0\n",
        "if not wanted or wanted > limit or not listeners or listeners == 0 then\n",
        SizesInRows(3),
    ),
    (
        "if not wanted or wanted > limit or not listeners",
        "if not wanted or not listeners",
        SizesInRows(3),
    ),
    (
        "if wanted > limit - held then\n        is_blocked",
        "if wanted >= limit - held then\n        is_blocked",
        SizesInRows(3),
    ),
    (
        "is_blocked, front, front_inbox = true, line_up[1], to",
        "is_blocked, front_inbox = true, to",
        SizesInRows(3),
    ),
    (
        "is_blocked, front, front_inbox = true, line_up[1], to",
        "is_blocked, front = true, line_up[1]",
        SizesInRows(3),
    ),
    (
        "remove[#remove + 1], front_inbox = line_up[1], heir_text[3]",
        "remove[#remove], front_inbox = line_up[1], heir_text[3]",
        SizesInRows(3),
    ),
    (
        "while i <= #ARGV or (waiting > 0 and held < limit and not is_blocked) do",
        "while i <= #ARGV do",
        SizesInRows(3),
    ),
    (
        "if permits <= going - held and waiting == 0 then",
        "if permits <= going - held then",
        SizesInRows(3),
    ),
    ("            if permits <= going - held then break end\n", "", SizesInRows(3)),
    ("has_queued, is_blocked = true, true", "has_queued, is_blocked = true, false", SizesInRows(3)),
    (
        "holders, held, is_blocked = holders - 1, held - permits, false",
        "holders, held = holders - 1, held - permits",
        SizesInRows(3),
    ),
    (
        "holders, held, is_blocked = holders - 1, held - permits, false",
        "holders, held, is_blocked = holders - 1, held - permits, true",
        SizesInRows(3),
    ),
    (
        "local there = saved and saved['r' .. its_place]\n        if there == nil then there",
        "local there = nil\n        if there == nil then there",
        SizesInRows(3),
    ),
    (
        "    if not is_done then\n      i = 0\n      break",
        "    if not is_done then\n      break",
        SizesInRows(3),
    ),
    (
        "if lowest + permits - 1 > highest then break end\n          slot, free",
        "slot, free",
        SizesInRows(3),
    ),
];
