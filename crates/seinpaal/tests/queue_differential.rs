//! The Redis scripts of queues are compared with their ledger, operation by operation, on random histories on
//! a real server with a clock of the test's own. A difference is made as short as it goes and printed.

#[path = "queue_differential/bench.rs"]
mod bench;
#[path = "support/queue_history.rs"]
mod queue_history;

use bench::{Bench, everything};
use queue_history::{
    Ask, CROWDED, Event, LARGE, LONE, PLAIN, SMALL, Scale, Seen, Turn, history, inbox,
};
use seinpaal_proto::{
    Priority,
    queue::{Due, Push},
    time::SECOND,
};
use seinpaal_rig::RedisServer;

/// As many as CI has time for; set the variable to look further.
fn histories() -> u64 {
    std::env::var("SEINPAAL_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

async fn compare_many(seeds: std::ops::Range<u64>, scale: Scale) {
    compare_many_on(&mut Bench::new(None).await, seeds, scale).await;
}

async fn compare_many_on(bench: &mut Bench, seeds: std::ops::Range<u64>, scale: Scale) {
    for seed in seeds {
        let history = history(seed, scale);
        if bench.difference(&history).await.is_some() {
            let short = bench.shorten(history).await;
            let difference = bench.difference(&short).await.unwrap_or_default();
            panic!(
                "seed {seed}, {scale:?}: the script differs from the ledger\n{short:#?}\n{difference}"
            );
        }
    }
}

/// For `crates/planted`: the first of so many histories on which the scripts and the ledger differ.
#[cfg(feature = "planted")]
#[allow(dead_code, reason = "it is called from there")]
pub(crate) async fn differs(histories: u64) -> Option<String> {
    let mut bench = Bench::new(None).await;
    let scales = [
        ("small", histories, SMALL),
        ("plain", histories, PLAIN),
        ("lone", histories, LONE),
        ("large", histories / 4, LARGE),
        ("crowded", histories / 4, CROWDED),
    ];
    for (size, histories, scale) in scales {
        for seed in 0..histories {
            if bench.difference(&history(seed, scale)).await.is_some() {
                return Some(format!("{size} history {seed} of a queue"));
            }
        }
    }
    None
}

#[tokio::test]
async fn the_scripts_of_queues_do_what_their_ledger_does() {
    compare_many(0..histories(), SMALL).await;
}

#[tokio::test]
async fn what_goes_on_all_the_time_is_done_as_the_ledger_does_it() {
    compare_many(0..histories(), PLAIN).await;
}

#[tokio::test]
async fn what_goes_on_one_at_a_time_is_done_as_the_ledger_does_it() {
    compare_many(0..histories(), LONE).await;
}

#[tokio::test]
async fn the_scripts_of_queues_do_what_their_ledger_does_on_a_server_that_sorts_words() {
    let mut bench = Bench::on(RedisServer::of_a_language(), None).await;
    for scale in [SMALL, PLAIN, LONE] {
        compare_many_on(&mut bench, 0..histories() / 2, scale).await;
    }
}

#[tokio::test]
async fn the_scripts_of_queues_stop_where_the_ledger_does_when_there_is_too_much_to_do() {
    compare_many(0..histories() / 4, LARGE).await;
}

#[tokio::test]
async fn histories_of_what_goes_on_all_the_time_list_items_in_work_behind_the_head() {
    for scale in [PLAIN, LONE, CROWDED] {
        let mut bench = Bench::new(None).await;
        compare_many_on(&mut bench, 0..20, scale).await;
        let (listed, calls) = (bench.listed, 20 * scale.events);
        println!("{scale:?}: listed after {listed} of {calls} calls, full after {}", bench.filled);
        assert!(50 * listed > calls, "after {listed} of {calls}");
        assert_eq!(bench.filled > 0, scale.most_items == 64, "full after {}", bench.filled);
    }
}

#[tokio::test]
async fn what_goes_on_with_more_in_work_than_is_listed_is_done_as_the_ledger_does_it() {
    compare_many(0..histories() / 4, CROWDED).await;
}

fn one_call(step: i64, asks: Vec<Ask>) -> Event {
    let (session, turn) = (inbox(1), Turn::Next(10 * SECOND as i64));
    Event::Call { step, session, turn, seen: Seen::None, asks }
}

fn a_push() -> Push {
    Push {
        payload: b"x".to_vec(),
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 1,
        about: String::new(),
    }
}

#[tokio::test]
async fn a_renewal_of_a_listed_item_leaves_nothing_in_the_order() {
    let renew = Ask::Renew { ttl: SECOND, margin: SECOND / 4, deliveries: vec![0] };
    let mut history = Vec::new();
    for asks in [vec![renew, Ask::Acknowledge(0)], vec![]] {
        history.push(one_call(1, vec![Ask::Push(a_push())]));
        history.push(one_call(1, vec![Ask::Pop(everything())]));
        history.extend(asks.into_iter().map(|ask| one_call(1, vec![ask])));
    }
    history.push(one_call(2 * SECOND as i64, vec![Ask::Inspect { rows: 3 }]));
    history.push(one_call(2 * SECOND as i64, vec![Ask::Inspect { rows: 3 }]));
    assert_eq!(Bench::new(None).await.difference(&history).await, None);
    let mistake = Some((
        "              if not at then\n                local n",
        "              if true then\n                local n",
    ));
    assert!(Bench::new(mistake).await.difference(&history).await.is_some());
}

/// The number of the last item stands in the list a second time: it is the second half of the first item's number
/// and the first half of the next one's.
fn one_number_within_two_others() -> Vec<Event> {
    let high = bench::START >> 32;
    let times =
        [((high + 1) << 32) + high + 2, ((high + 2) << 32) + 5, (high + 2) * ((1 << 32) + 1)];
    let mut now = bench::START;
    let mut history = Vec::new();
    for time in times {
        history.push(one_call((time - now) as i64, vec![Ask::Push(a_push())]));
        now = time;
    }
    history.push(one_call(1, vec![Ask::Pop(everything())]));
    history.push(one_call(1, vec![Ask::Acknowledge(0)]));
    history.push(one_call(1, vec![Ask::Inspect { rows: 3 }]));
    history
}

#[tokio::test]
async fn a_number_that_stands_across_two_others_is_not_taken_for_its_item() {
    let history = one_number_within_two_others();
    assert_eq!(Bench::new(None).await.difference(&history).await, None);
    let mistake = Some(("at and at % 8 ~= 1", "false"));
    assert!(Bench::new(mistake).await.difference(&history).await.is_some());
}

#[tokio::test]
async fn what_is_popped_at_once_has_no_more_payload_than_an_answer_may() {
    let push = |seed: u8| Push {
        payload: vec![seed; 900_000],
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 1,
        about: String::new(),
    };
    let call = |asks| Event::Call {
        step: 1,
        session: inbox(1),
        turn: Turn::Next(SECOND as i64),
        seen: Seen::None,
        asks,
    };
    let mut history = (0..6).map(|i| call(vec![Ask::Push(push(i))])).collect::<Vec<_>>();
    history.push(call(vec![Ask::Pop(everything()), Ask::Pop(everything())]));
    let mut bench = Bench::new(None).await;
    assert_eq!(bench.difference(&history).await, None);
}

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
async fn a_mistake_in_the_fast_path_of_queues_does_not_stay_hidden() {
    let mistakes = [
        ("ready + n / 2, open + n / 2", "ready + n / 2, open", LONE),
        ("(first_end <= clock or", "(first_end <= clock - 99000 or", PLAIN),
        ("if number <= known or", "if number < known or", PLAIN),
        ("or not_after < stands", "", LONE),
        ("in_work, listed = in_work - 1,", "in_work, listed = in_work,", LONE),
        ("in_work, listed = in_work - 1,", "in_work, listed = in_work,", PLAIN),
        ("attempt = attempt + 1\n          set", "set", LONE),
        ("bound = min(bound, pop_margin)", "", LONE),
        ("bound = min(bound, margin)", "", PLAIN),
        ("or has_more ~= 0 then break", "then break", LONE),
        ("(delayed > 0 and first_due <= now)", "false", PLAIN),
        ("limit >= 0 and limit - in_work or open", "open", LONE),
        ("is_it = its_fence == fence", "is_it = true", PLAIN),
        ("    if now > not_after then break end", "", PLAIN),
        (
            "clock + min(max(now - wall, 0), bound), now, max(last",
            "clock + max(now - wall, 0), now, max(last",
            LONE,
        ),
        ("max(last, min(seen, MOST_SEEN))", "last", LONE),
        ("if touched and touched[field] then is_plain = false end", "", PLAIN),
        ("if byte(item, 31) + byte(item, 32) > 0 then", "if false then", LONE),
        ("and byte(item, 31) + byte(item, 32) == 0", "", LONE),
        ("count < pop_items and pop_wait == 1", "false", LONE),
        (
            "if in_work == 0 then bound, first_end, first_wall =",
            "if false then bound, first_end, first_wall =",
            LONE,
        ),
        (
            "sub(item, ITEM_BYTES + key + 1, ITEM_BYTES + key",
            "sub(item, ITEM_BYTES + 1, ITEM_BYTES",
            LONE,
        ),
        (
            "first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)\n              set",
            "set",
            PLAIN,
        ),
        (
            "first_end, first_wall = min(first_end, ends), min(first_wall, ends_wall)\n      end",
            "end",
            LONE,
        ),
        (
            "ends, ends_wall = clock + ttl, now + ttl\n              first",
            "ends = clock + ttl\n              first",
            PLAIN,
        ),
        ("ready - count, open - count", "ready - count, open", LONE),
        (
            "      last = max(last + 1, now)\n      is_plain",
            "      last = last + 1\n      is_plain",
            LONE,
        ),
        ("max(room - bytes, 0), max(last + 1, now)", "max(room - bytes, 0), now", LONE),
        ("remove[#remove + 1] = 'w' .. pack(NUMBER, ends_wall) .. suffix", "", LONE),
        ("sessions, first_session = sessions + 1,", "sessions, first_session = sessions,", LONE),
        // In the list of what is in work.
        ("listed = listed .. id", "listed = listed", LONE),
        ("at and sub(listed, 1, at - 1) .. sub(listed, at + 8) or listed", "listed", LONE),
        ("sub(listed, 1, at - 1) .. sub(listed, at + 8)", "sub(listed, 1, at - 1)", PLAIN),
        ("#text > HEAD_BYTES and sub(text, HEAD_BYTES + 1) or ''", "''", LONE),
        ("VERSION, 0, FIELDS_OF_HEAD, listed)", "VERSION, 0, FIELDS_OF_HEAD, '')", LONE),
        ("    ledger.add('e', item.a)\n", "", LONE),
        ("    ledger.add('w', item.b)\n", "", LONE),
        (
            "'e' .. pack(NUMBER, ends) .. id, '0'",
            "'e' .. pack(NUMBER, ends + 9) .. id, '0'",
            CROWDED,
        ),
        ("if #fields > 3 then\n", "if false then\n", PLAIN),
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
