//! Mistakes that are put into the script of queues. The histories find them.

use super::{
    bench::Bench,
    histories,
    queue_history::{CROWDED, LARGE, LONE, PLAIN, SMALL, Scale, history},
};

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
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
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_a_list_of_items_does_not_stay_hidden() {
    let mistakes = [
        ("o = 'o', g = 'or', d", "o = 'o', g = 'r', d", SMALL),
        ("max(key + RANK_BIAS, 0)", "max(key, 0)", SMALL),
        (
            "place.group == '' and '' or place.group .. '\\0' .. rank",
            "place.group == '' and '' or place.group",
            SMALL,
        ),
        ("pack(TWO, max(key, 0), number) end", "pack(TWO, max(key, 0), 0) end", SMALL),
        ("then return pack(NUMBER, number) end", "then return pack(NUMBER, 0) end", SMALL),
        ("if letter == 'd' then\n    key = item.at\n  elseif", "if", SMALL),
        ("group = letter == 'g' and item.group or ''", "group = item.group", SMALL),
        ("== 'o' and item.group ~= ''", "== 'p'", SMALL),
        ("'items '\n    .. (place and", "'items ' .. (false and", SMALL),
        ("if #found == left then return", "if #found == left + 1 then return", SMALL),
        (
            "if at.letter ~= 'g' then return ledger.page(answer, nil) end",
            "if true then return ledger.page(answer, nil) end",
            SMALL,
        ),
        ("left - #found", "left", SMALL),
        ("min(max(rows, 1), MOST_ROWS)", "rows", SMALL),
        ("1, PREVIEW)\n      end\n      at", "1, PREVIEW + 1)\n      end\n      at", SMALL),
        ("and item.worked_about or ''", "and ''", SMALL),
        ("(item.standing == 'w' and spares_work)", "false", SMALL),
        ("which == 'waiting') end", "true) end", SMALL),
    ];
    must_be_found(&mistakes).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_whether_a_queue_is_plain_does_not_stay_hidden() {
    let mistakes = [
        ("if not (number > before and not_after", "if not (not_after", LONE),
        ("before and not_after >= stands)", "before)", LONE),
        ("version ~= VERSION or has_more ~= 0 then", "version ~= VERSION then", LONE),
        ("sessions, add = sessions + 1,", "sessions, add = sessions,", LONE),
        ("    if not_after < first_session then first_session = not_after end\n", "", LONE),
        ("if passed < 0 then passed = 0 elseif", "if", LONE),
        ("elseif passed > bound then passed = bound end", "end", LONE),
        ("clock, wall = clock + passed, now", "clock = clock + passed", LONE),
        ("if first_end <= clock or first_wall", "if first_wall", LONE),
        ("first_end <= clock or first_wall <= now or", "first_end <= clock or", LONE),
        ("or first_due <= now or first_session", "or first_session", LONE),
        ("or first_session < now\n      or first_key", "or first_key", LONE),
        ("  if not (seen <= MOST_SEEN) then break end\n", "", LONE),
        ("  if seen > last then last = seen end\n", "", LONE),
        ("  if not_after > memory then memory = not_after end\n", "", LONE),
        ("is_plain, pushed = sub(text, HEAD_BYTES + 1),", "is_plain, pushed = '',", LONE),
        ("  if what then break end\n", "", SMALL),
    ];
    must_be_found(&mistakes).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_a_push_on_the_straight_path_does_not_stay_hidden() {
    let mistakes = [
        ("local first = last < now and now or last + 1", "local first = now", LONE),
        ("local first = last < now and now or last + 1", "local first = last + 1", LONE),
        ("last = first + pushed\n", "last = first\n", PLAIN),
        ("ready, open = ready + pushed, open + pushed", "ready = ready + pushed", LONE),
        ("ready, open = ready + pushed, open + pushed", "open = open + pushed", LONE),
        ("local rank, id, n, m = last - priority * AGING,", "local rank, id, n, m = last,", LONE),
        ("'o', priority, most, #payload, 0", "'o', priority, most, 0, 0", LONE),
        ("#about, 0, 0, about)\n      set", "0, 0, 0, '')\n      set", LONE),
        ("if not is_plain or what then break end", "if not is_plain then break end", SMALL),
        ("KEPT_PUSHED, PUSH, first, pushed)", "KEPT_PUSHED, PUSH, last, pushed)", PLAIN),
        ("KEPT_PUSHED, PUSH, first, pushed)", "KEPT_PUSHED, PUSH, first, 1)", PLAIN),
        ("first == now and now or pack", "now or pack", LONE),
        ("= 'p' .. id, payload\n", "= 'p' .. id, ''\n", LONE),
    ];
    must_be_found(&mistakes).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_an_end_or_a_renewal_on_the_straight_path_does_not_stay_hidden() {
    let mistakes = [
        ("left = string.gsub(listed, ENTRY, gone)", "left = listed", PLAIN),
        ("#listed - #left == asked * LISTED_BYTES", "true", PLAIN),
        (
            "byte(item) == 119\n          and byte(item, 31) + byte(item, 32) == 0",
            "byte(item) == 119",
            PLAIN,
        ),
        ("is_plain = pack(NUMBER, fence) == sub(entry, 9)\n", "is_plain = true\n", PLAIN),
        ("if remove then\n          remove[n + 1]", "if false then remove[n + 1]", PLAIN),
        ("    if not are_listed then remove = {} end\n", "", PLAIN),
        ("'w' .. pack(NUMBER, its_wall) .. id\n        end", "nil end", PLAIN),
        (
            "pack(WORKED, fence, since,\n            ttl, ends, ends_wall,",
            "pack(WORKED, fence, since, ttl, its_end, ends_wall,",
            PLAIN,
        ),
        (
            "pack(WORKED, fence, since,\n            ttl, ends, ends_wall,",
            "pack(WORKED, fence, since, ttl, ends, its_wall,",
            PLAIN,
        ),
        ("ends_wall, sub(field, 2)) ", "ends_wall, sub(field, 1, 32))\n", PLAIN),
        ("      asked = asked - 1\n", "      asked = 0\n", PLAIN),
        ("'i' .. id, 'p' .. id end", "'i' .. id, nil end", PLAIN),
        ("    listed = left\n", "", PLAIN),
        ("if has_room then listed = left .. deliveries end", "", PLAIN),
        (
            "      if ends < first_end then first_end = ends end\n      if ends_wall < first_wall then first_wall = ends_wall end\n      if margin < bound then bound = margin end\n      kept",
            "      if margin < bound then bound = margin end\n      kept",
            PLAIN,
        ),
        ("      if margin < bound then bound = margin end\n      kept", "      kept", PLAIN),
        ("in_work, kept = in_work - #del / 2, sub", "kept = sub", LONE),
        ("sub(line, from, at - 1)", "sub(line, from, from + LISTED_BYTES)", PLAIN),
        ("kept = pack(KEPT_RENEWED, RENEW, ttl)", "kept = ''", PLAIN),
        ("kept = pack(KEPT_RENEWED, RENEW, ttl)", "kept = pack(KEPT_RENEWED, RENEW, 7)", PLAIN),
    ];
    must_be_found(&mistakes).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_a_pop_on_the_straight_path_does_not_stay_hidden() {
    let mistakes = [
        ("then most = limit - in_work end", "then most = most end", LONE),
        (
            "payload and #item >= ITEM_BYTES and byte(item, 31) + byte(item, 32) == 0",
            "payload and #item >= ITEM_BYTES",
            LONE,
        ),
        ("last < now and now or last + 1, attempt + 1\n", "now, attempt + 1\n", LONE),
        ("last + 1, attempt + 1\n", "last + 1, attempt\n", LONE),
        ("past, #about, last", "past,\n          0, last", LONE),
        ("rank, 0, key, its_about, past,", "rank, key, 0, its_about, past,", LONE),
        ("sub(item, ITEM_BYTES + 1), about)", "sub(item, ITEM_BYTES + 1), '')", LONE),
        ("listing[i] = id .. pack(NUMBER, last)", "listing[i] = pack(NUMBER, last) .. id", LONE),
        ("      remove = remove or page\n", "", LONE),
        ("else remove[#remove + 1] = page[i] end", "end", PLAIN),
        ("        if not has_room then\n          n = #add\n", "        if false then\n", CROWDED),
        (
            "'e' .. pack(NUMBER, ends) .. id,\n            '0', 'w' .. pack(NUMBER, ends_wall) .. id\n        end\n        answer",
            "'e' .. pack(NUMBER, ends + 9) .. id, '0', 'w' .. pack(NUMBER, ends_wall) .. id\n        end\n        answer",
            CROWDED,
        ),
        (
            ",\n        #listed + most * LISTED_BYTES <= MOST_LISTED * LISTED_BYTES",
            ", true",
            CROWDED,
        ),
        (
            "sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key + its_about)",
            "sub(item, ITEM_BYTES + 1, ITEM_BYTES + its_about)",
            LONE,
        ),
        ("in_work, ready, open = in_work + count,", "_, ready, open = in_work + count,", LONE),
        ("ready - count, open - count", "ready, open - count", LONE),
        ("ready - count, open - count", "ready - count, open", LONE),
        (
            "first_wall = ends_wall end\n      if margin < bound then bound = margin end\n      entries",
            "end\n      if margin < bound then bound = margin end\n      entries",
            LONE,
        ),
        ("      if margin < bound then bound = margin end\n      entries", "      entries", LONE),
        ("if has_room then listed = listed .. entries end", "", LONE),
        ("if count < items and wait == 1 then break end", "", PLAIN),
        (
            "answer[2], kept = ready + delayed + in_work,",
            "answer[2], kept = ready + in_work,",
            LONE,
        ),
        ("KEPT_POPPED, POP, #entries, entries)", "KEPT_POPPED, POP, 0, '')", LONE),
    ];
    must_be_found(&mistakes).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_what_the_straight_path_leaves_to_others_does_not_stay_hidden() {
    let mistakes = [
        ("    first = try('zrem', order, unpack(remove))", "    first = 1", LONE),
        ("  if del then try('hdel', records, unpack(del)) end\n", "", PLAIN),
        ("unpack(del or { '-' })), nil", "'-'), nil", LONE),
        ("  if add then third = try('zadd', order, unpack(add)) end\n", "", LONE),
        ("if deadline > 0 then lasts, deadline = true, 0 end", "", LONE),
        ("lasts, deadline = true, 0", "deadline = 0", LONE),
        // Mistakes in the list of items in work.
        ("    ledger.add('e', item.a)\n", "", LONE),
        ("    ledger.add('w', item.b)\n", "", LONE),
        // Mistakes in the kept answers.
        ("for item = first, first + pushed - 1 do", "for item = first, first do", PLAIN),
        ("'acknowledged %d', read(NUMBER, kept, at + 1)", "'acknowledged %d', 7", PLAIN),
        ("lines[#lines + 1] = format('renewed %d ', ttl)", "", PLAIN),
        ("for place = 1, #entries, LISTED_BYTES do", "for place = 1, 1 do", PLAIN),
        // Mistakes in requests that travel packed and are not plain.
        ("wait = wait == 1,", "wait = true,", SMALL),
        ("local at = (how == 1 and now or 0) +", "local at =", SMALL),
        ("how > 0 and at > now and min", "how > 0 and min", SMALL),
        ("format('%d', (at - 1) / LISTED_BYTES)", "format('%d', 0)", SMALL),
        // Mistakes in the records of an item and of the head.
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
