//! Mistakes put into the script of queues, which the histories find.

use super::{
    bench::Bench,
    histories,
    queue_history::{CROWDED, LARGE, LONE, PLAIN, SMALL, Scale, history},
};

#[tokio::test]
async fn a_mistake_in_a_script_of_queues_does_not_stay_hidden() {
    let mistakes = [
        ("= 128, 4, 4194304", "= 127, 4, 4194304", LARGE),
        ("= 128, 4, 4194304", "= 128, 3, 4194304", SMALL),
        (
            "AGING, CALL_WAIT, PLACE_TTL = 60000000",
            "AGING, CALL_WAIT, PLACE_TTL = -60000000",
            SMALL,
        ),
        ("item.ends > head.clock or not", "item.ends >= head.clock or not", SMALL),
        ("if ledger.is_listening(item.by) then", "if true then", SMALL),
        ("group.in_work < head.group_limit", "group.in_work <= head.group_limit", SMALL),
        ("if is_before then ledger.shut(front, group) end", "", SMALL),
        ("item.attempt < item.most", "item.attempt <= item.most", SMALL),
        ("item.attempt = max(item.attempt - 1, 0)", "", SMALL),
        (
            "known.till > now then return format('dup",
            "known.till > now + 9000 then return format('dup",
            SMALL,
        ),
        ("if not known or known.number ~= item.number then", "if true then", SMALL),
        ("head.watch_at <= at and", "", SMALL),
        ("first.drains ~= '0'", "false", SMALL),
        ("(known and number < known.number)", "false", SMALL),
        ("if stands and till < stands then", "if false then", SMALL),
        ("if known.till > known.stands then", "if false then", SMALL),
        ("math.abs(now - place.since)", "(now - place.since)", SMALL),
        ("head.wanted = max(head.wanted - place.want, 0)", "", SMALL),
    ];
    must_be_found(&mistakes).await;
}

#[tokio::test]
async fn a_mistake_in_the_straight_path_of_queues_does_not_stay_hidden() {
    let mistakes = [
        // In whether a queue is plain.
        ("if not (number > before and not_after", "if not (not_after", LONE),
        ("before and not_after >= stands)", "before)", LONE),
        (
            "version ~= VERSION or has_more ~= 0 or deadline > 0 then",
            "version ~= VERSION or deadline > 0 then",
            LONE,
        ),
        ("has_more ~= 0 or deadline > 0 then", "has_more ~= 0 then", LONE),
        ("if passed < 0 then passed = 0 elseif", "if", LONE),
        ("elseif passed > bound then passed = bound end", "end", LONE),
        ("clock, wall = clock + passed, now", "clock = clock + passed", LONE),
        ("if first_end <= clock or first_wall", "if first_wall", LONE),
        ("first_end <= clock or first_wall <= now or", "first_end <= clock or", LONE),
        ("or first_due <= now or first_session", "or first_session", LONE),
        ("or first_session < now or first_key", "or first_key", LONE),
        ("    if not (seen <= MOST_SEEN) then break end\n", "", LONE),
        ("    if seen > last then last = seen end\n", "", LONE),
        ("    if not_after > memory then memory = not_after end\n", "", LONE),
        ("    local listed = sub(text, HEAD_BYTES + 1)", "    local listed = ''", LONE),
        // In a push.
        ("      last = last < now and now or last + 1\n", "      last = now\n", LONE),
        ("      last = last < now and now or last + 1\n", "      last = last + 1\n", LONE),
        ("ready, open = ready + 1, open + 1", "ready = ready + 1", LONE),
        ("ready, open = ready + 1, open + 1", "open = open + 1", LONE),
        (
            "last - priority * AGING, pack(NUMBER, last)\n      local item",
            "last, pack(NUMBER, last)\n      local item",
            LONE,
        ),
        ("'o', priority, most, #payload, 0", "'o', priority, most, 0, 0", LONE),
        ("0, 0, size, 0, 0, about)", "0, 0, 0, 0, 0, '')", LONE),
        ("stands, KEPT_PUSHED, id)", "stands, KEPT_DONE, id)", LONE),
        ("return last == now and now or pack", "return now or pack", LONE),
        // In an acknowledgement.
        ("sub(done, 1, 8), in_work - 1", "sub(done, 1, 8), in_work", LONE),
        ("sub(listed, 1, at - 1) .. sub(listed, at + LISTED_BYTES)", "listed", LONE),
        (
            "local is_out = try('hdel', records, 'i' .. id_done, 'p' .. id_done)",
            "local is_out = 2",
            LONE,
        ),
        ("stands, KEPT_DONE, id_done), 'h'", "stands, KEPT_PUSHED, id_done), 'h'", LONE),
        // In a pop.
        ("if (limit >= 0 and in_work >= limit)", "if (limit >= 0 and in_work > limit)", LONE),
        ("      if group > 0 then break end\n", "", LONE),
        (
            "last, attempt = last < now and now or last + 1, attempt + 1",
            "last, attempt = now, attempt + 1",
            LONE,
        ),
        (
            "last, attempt = last < now and now or last + 1, attempt + 1",
            "last = last < now and now or last + 1",
            LONE,
        ),
        (
            "in_work, ready, open = in_work + 1, ready - 1, open - 1",
            "in_work, ready = in_work + 1, ready - 1",
            LONE,
        ),
        (
            "in_work, ready, open = in_work + 1, ready - 1, open - 1",
            "in_work, open = in_work + 1, open - 1",
            LONE,
        ),
        (
            "in_work, ready, open = in_work + 1, ready - 1, open - 1",
            "ready, open = ready - 1, open - 1",
            LONE,
        ),
        ("      if ends_wall < first_wall then first_wall = ends_wall end\n", "", LONE),
        ("      if margin < bound then bound = margin end\n", "", LONE),
        ("      listed = listed .. id .. fence\n", "", LONE),
        (
            "sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + its_size)",
            "sub(item, ITEM_BYTES + 1, ITEM_BYTES + its_size)",
            LONE,
        ),
        ("now, ready + delayed + in_work, its_about", "now, ready + in_work, its_about", LONE),
        ("past, size, last, now, ttl, ends,", "past, 0, last, now, ttl, ends,", LONE),
        ("0, key, its_size, past, size, last", "key, 0, its_size, past, size, last", LONE),
        (
            "sub(item, ITEM_BYTES + 1), about)\n      kept",
            "sub(item, ITEM_BYTES + 1), '')\n      kept",
            LONE,
        ),
        ("stands, KEPT_POPPED, id, fence)\n", "stands, KEPT_POPPED, fence, id)\n", LONE),
        ("      local is_out = try('zrem', order, member)", "      local is_out = 1", LONE),
        (
            "      if id_done then try('hdel', records, 'i' .. id_done, 'p' .. id_done) end\n",
            "",
            LONE,
        ),
        // In what is not as simple.
        ("sub(line, REQUEST_AT, DONE_ENDS - 1)", "sub(line, REQUEST_AT, DONE_ENDS)", LONE),
        ("operation == 4 and 'pop:\\1' .. sub(line, DONE_ENDS) or nil", "nil", LONE),
        (
            "words[3] = 'pop:\\1' .. sub(line, REQUEST_AT)",
            "words[3] = 'pop:\\2' .. sub(line, REQUEST_AT)",
            LONE,
        ),
    ];
    must_be_found(&mistakes).await;
}

#[tokio::test]
async fn a_mistake_in_the_fast_path_of_queues_does_not_stay_hidden() {
    let mistakes = [
        ("ready + n / 2, open + n / 2", "ready + n / 2, open", PLAIN),
        ("(first_end <= clock or", "(first_end <= clock - 99000 or", PLAIN),
        ("if number <= known or", "if number < known or", PLAIN),
        ("or not_after < stands", "", PLAIN),
        ("touched[suffix], in_work = true, in_work - 1", "touched[suffix] = true", PLAIN),
        ("attempt = attempt + 1\n          set", "set", PLAIN),
        ("bound = min(bound, pop_margin)", "", PLAIN),
        ("bound = min(bound, ask.margin)", "", PLAIN),
        ("VERSION or has_more ~= 0 then break", "VERSION then break", PLAIN),
        ("(delayed > 0 and first_due <= now)", "false", PLAIN),
        ("limit >= 0 and limit - in_work or open", "open", PLAIN),
        ("is_it = fence == delivery[2]", "is_it = true", PLAIN),
        ("is_it = pack(NUMBER, fence) == sub(ask, 9)", "is_it = true", PLAIN),
        ("    if now > not_after then break end", "", PLAIN),
        (
            "clock + min(max(now - wall, 0), bound), now, max(last",
            "clock + max(now - wall, 0), now, max(last",
            PLAIN,
        ),
        ("max(last, min(seen, MOST_SEEN))", "last", PLAIN),
        (
            "        if touched[suffix] then is_plain = false end\n        if not",
            "        if not",
            PLAIN,
        ),
        (
            "          if touched[suffix] then is_plain = false end\n          if not",
            "          if not",
            PLAIN,
        ),
        ("if byte(item, 31) + byte(item, 32) > 0 then", "if false then", PLAIN),
        ("and byte(item, 31) + byte(item, 32) == 0", "", PLAIN),
        ("count < pop_items and pop_wait == 1", "false", PLAIN),
        (
            "sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + about)",
            "sub(item, ITEM_BYTES + 1, ITEM_BYTES + about)",
            PLAIN,
        ),
        (
            "first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)\n              set",
            "set",
            PLAIN,
        ),
        (
            "first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)\n      end",
            "end",
            PLAIN,
        ),
        (
            "ends, ends_wall = clock + ttl, now + ttl\n              first",
            "ends = clock + ttl\n              first",
            PLAIN,
        ),
        ("ready - count, open - count", "ready - count, open", PLAIN),
        (
            "      last = max(last + 1, now)\n      is_plain",
            "      last = last + 1\n      is_plain",
            PLAIN,
        ),
        ("max(room - bytes, 0), max(last + 1, now)", "max(room - bytes, 0), now", PLAIN),
        ("remove[#remove + 1] = 'w' .. pack(NUMBER, ends_wall) .. suffix", "", PLAIN),
        ("sessions, first_session = sessions + 1,", "sessions, first_session = sessions,", LONE),
        ("    memory = max(memory, not_after)", "", PLAIN),
        // In the list of what is in work.
        ("            list[lists] = entry\n", "", PLAIN),
        ("          places[ask] = nil\n", "", PLAIN),
        ("      if places[entry] then\n", "      if true then\n", PLAIN),
        ("    listed = concat(list)\n", "", PLAIN),
        ("#text > HEAD_BYTES and sub(text, HEAD_BYTES + 1) or ''", "''", PLAIN),
        (
            "  set[#set + 1] = pack(HEAD_AND_LIST, VERSION, 0, FIELDS_OF_HEAD, listed)",
            "  set[#set + 1] = pack(HEAD, VERSION, 0, FIELDS_OF_HEAD)",
            PLAIN,
        ),
        ("if lists < MOST_LISTED then", "if true then", CROWDED),
        ("    ledger.add('e', item.a)\n", "", LONE),
        ("    ledger.add('w', item.b)\n", "", LONE),
        (
            "'e' .. pack(NUMBER, ends) .. id, '0'",
            "'e' .. pack(NUMBER, ends + 9) .. id, '0'",
            CROWDED,
        ),
        // In what is kept of the answers.
        ("1, '\\2', suffix\n", "1, '\\1', suffix\n", PLAIN),
        ("line, '\\4' .. pack", "line, '\\4' .. pack('<I4', 0) or pack", PLAIN),
        ("last, '\\1', id\n", "last, '\\2', id\n", PLAIN),
        ("      kept[keeps] = '\\3'\n", "      kept[keeps] = ''\n", PLAIN),
        ("at + 4 + size), at + 5 + size", "at + 4 + size), at + 4 + size", PLAIN),
        (
            "      for place = at + 1, #kept, LISTED_BYTES do",
            "      for place = at + 1, at + 1, LISTED_BYTES do",
            PLAIN,
        ),
        // In what travels packed and is not plain.
        ("wait = wait == 1,", "wait = true,", SMALL),
        ("read(PUSH, text, 2)) .. sub(text, 7)", "read(PUSH, text, 2)) .. sub(text, 8)", SMALL),
        // In what is kept of an item and of the head.
        ("#item.history, #worked_about) .. text", "#item.history, 0) .. text", SMALL),
        ("h.idle + h.called > 0 or paused", "paused", SMALL),
        ("or paused ~= '' or", "or", SMALL),
    ];
    must_be_found(&mistakes).await;
}

async fn must_be_found(mistakes: &[(&str, &str, Scale)]) {
    let mut unnoticed = Vec::new();
    for &(from, to, scale) in mistakes {
        let mut bench = Bench::new(Some((from, to))).await;
        let mut is_found = false;
        for seed in 0..histories() {
            is_found = is_found || bench.difference(&history(seed, scale)).await.is_some();
            if is_found {
                break;
            }
        }
        if !is_found {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}
