//! The Redis scripts are compared with the ledger, operation by operation, on random histories on a real
//! server with a clock of the test's own. A difference is made as short as it goes and printed.

#[path = "redis_differential/bench.rs"]
mod bench;
#[path = "support/history.rs"]
mod history;
#[path = "support/model.rs"]
mod model;
#[path = "support/redis_server.rs"]
mod redis_server;

use bench::{Bench, KEY};
use history::{Ask, Event, FenceSeen, LARGE, Random, SMALL, Scale, guarded_history, history};
use seinpaal_proto::{
    Acquire, Enqueue, Kind, LeaseId, Limit, LimitRule, OnMismatch, Permits, Priority, Ticket,
};

async fn compare_many(seeds: std::ops::Range<u64>, scale: Scale) {
    let mut bench = Bench::new(None).await;
    if let Some((seed, history)) = first_different(&mut bench, seeds, scale).await {
        let short = bench.shorten(history).await;
        let difference = bench.difference(&short).await.unwrap_or_default();
        panic!(
            "seed {seed}, {scale:?}: the script differs from the ledger\n{short:#?}\n{difference}"
        );
    }
}

async fn first_different(
    bench: &mut Bench,
    seeds: std::ops::Range<u64>,
    scale: Scale,
) -> Option<(u64, Vec<Event>)> {
    for seed in seeds {
        let history = history(seed, scale);
        if bench.difference(&history).await.is_some() {
            return Some((seed, history));
        }
    }
    None
}

/// For `crates/planted`: the first of so many histories on which the scripts and the ledger differ.
#[cfg(feature = "planted")]
#[allow(dead_code, reason = "it is called from there")]
pub(crate) async fn differs(histories: u64) -> Option<String> {
    let mut bench = Bench::new(None).await;
    if let Some(difference) = bench.clocks_differ().await {
        return Some(difference);
    }
    for (size, seeds, scale) in [("small", 0..histories, SMALL), ("large", 0..histories / 4, LARGE)]
    {
        if let Some((seed, _)) = first_different(&mut bench, seeds, scale).await {
            return Some(format!("{size} history {seed}"));
        }
    }
    None
}

#[tokio::test]
async fn scripts_that_are_given_no_time_go_by_the_servers_in_microseconds() {
    assert_eq!(Bench::new(None).await.clocks_differ().await, None);
}

/// A guard short enough to end, and to begin, often in one history.
const GUARD: u64 = 1_500_000;

#[tokio::test]
async fn under_a_restart_guard_the_scripts_do_what_the_ledger_does() {
    let mut bench = Bench::with(None, Some(GUARD)).await;
    for seed in 0..histories() {
        let history = guarded_history(seed, SMALL);
        let Some(difference) = bench.difference(&history).await else { continue };
        let short = bench.shorten(history).await;
        panic!("seed {seed}: {difference}\nin short {short:#?}");
    }
}

#[tokio::test]
async fn a_mistake_in_the_guard_does_not_stay_hidden() {
    let mistakes = [
        ("floor(length / 5)", "floor(length / 4)"),
        ("left, wall = length, now end", "left, wall = 0, now end"),
        ("if guarded_for > 0 then break end", ""),
        ("not head.paused and guarded_for == 0", "not head.paused"),
        ("min(left, guarded_for)", "left"),
    ];
    for (from, to) in mistakes {
        let mut bench = Bench::with(Some((from, to)), Some(GUARD)).await;
        let mut is_found = false;
        for seed in 0..histories() {
            is_found = is_found || bench.difference(&guarded_history(seed, SMALL)).await.is_some();
        }
        assert!(is_found, "{to:?} in place of {from:?} goes unnoticed");
    }
}

/// As many as CI has time for; set the variable to look further.
fn histories() -> u64 {
    std::env::var("SEINPAAL_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does() {
    compare_many(0..histories(), SMALL).await;
}

#[tokio::test]
async fn the_scripts_stop_where_the_ledger_does_when_there_is_too_much_to_do() {
    compare_many(0..histories() / 4, LARGE).await;
}

/// Somebody states a limit and leaves; who comes next states none.
fn one_after_the_other() -> Vec<Event> {
    let limit = Some(LimitRule { limit: Limit::new(5).unwrap(), on_mismatch: OnMismatch::Refuse });
    let acquire = |ticket: u128, limit| Ask::Acquire {
        acquire: Acquire {
            ticket: Ticket(ticket),
            kind: Kind::Semaphore,
            permits: Permits::ONE,
            limit,
            enqueue: Enqueue::No,
            priority: Priority::default(),
            lease: LeaseId(ticket),
            ttl: 1_000_000,
            margin: 250_000,
            waiter_lease: LeaseId(100 + ticket),
            waiter_ttl: 1_000_000,
            not_after: None,
            about: String::new(),
        },
        not_after: None,
    };
    let asks =
        [acquire(1, limit), Ask::Release { ticket: Ticket(1), slots: None }, acquire(2, None)];
    let call = |ask| Event::Call {
        step: 1,
        inbox: Some(history::inbox(0)),
        fence: FenceSeen::None,
        asks: vec![ask],
    };
    asks.into_iter().map(call).collect()
}

#[tokio::test]
async fn a_mistake_in_a_script_does_not_stay_hidden() {
    let mistakes = [
        ("local WORK = 128", "local WORK = 127", LARGE),
        (
            "lease.ends > head.clock or not ledger.has_work()",
            "lease.ends >= head.clock or not ledger.has_work()",
            SMALL,
        ),
        ("ledger.first_lease('w', 'x')", "ledger.first_lease('e', 'f')", SMALL),
        ("min(ask.margin, floor(ask.waiter_ttl / 2))", "ask.margin", SMALL),
        ("head.arrival - ask.priority", "head.arrival + ask.priority", SMALL),
        (
            "if entry.parked == '1' then lease.parked",
            "if entry.parked == '2' then lease.parked",
            SMALL,
        ),
        ("ahead >= 0 and ahead <= HALF_DAY + HALF_DAY and ahead + 1 or 0", "0", SMALL),
        ("  head.stated = nil\n", "", SMALL),
        (
            "top, stated = UNBOUNDED, UNBOUNDED, UNBOUNDED, 0, 0, -1",
            "top = UNBOUNDED, UNBOUNDED, UNBOUNDED, 0, 0",
            SMALL,
        ),
        (
            "ask.rule == 'E' or (ask.rule == 'R' and not head.pinned)",
            "ask.rule == 'E' or ask.rule == 'R'",
            SMALL,
        ),
        (
            "elseif not head.pinned then head.stated = limit end",
            "else head.stated = limit end",
            SMALL,
        ),
        // In what changes hands.
        ("elseif ledger.me then\n    return 'attached'", "elseif not ledger.me then", SMALL),
        ("if before.inbox ~= ledger.me then", "if before.inbox then", SMALL),
        ("ledger.raise(ask.lease, ask.ttl, 0, 'attached')", "ledger.work = WORK", SMALL),
        // In what is remembered of series.
        ("'released' then table.insert", "'released' and false then table.insert", SMALL),
        ("max(memory.last, number), max", "number, max", SMALL),
        ("max(memory['until'], head.clock + ttl)", "head.clock + ttl", SMALL),
        ("ledger.raise(entry.ticket, entry.ttl, 1)", "ledger.work = WORK", SMALL),
        (
            "ledger.raise(refused, time, 0, not ledger.cause_of(refused) and 'cancelled' or nil)",
            "ledger.work = WORK",
            SMALL,
        ),
        ("if is_read and keeper ~= inbox then break end", "", SMALL),
        ("(not attach or entry.lease == attach)", "true", SMALL),
        ("(ledger.is_fresh or owed(head) == 0)", "owed(head) == 0", SMALL),
        // In each of the fast paths.
        (
            "from, last = lowest, lowest + permits - 1",
            "from, last = highest, highest + permits - 1",
            SMALL,
        ),
        ("margin, floor(place_ttl / 2)", "margin, place_ttl", SMALL),
        ("held - permits, holders == 1", "held - permits, holders == 2", SMALL),
        ("if wanted ~= permits", "if wanted > 99", SMALL),
        ("there ~= members + 0 or sum", "sum", SMALL),
        ("if deadline <= 0 or left < need", "need, most = 99999, 99999 if true", SMALL),
        ("if number <= last_number then break end", "", SMALL),
        ("pack(MEMORY, number, till, open + 1)", "pack(MEMORY, number, till, open)", SMALL),
        ("till, open - 1)", "till, open)", SMALL),
        ("past > 0 and (first_past <= clock or past > MOST_MEMORIES)", "past > 99", SMALL),
    ];
    for (from, to, scale) in mistakes {
        let mut bench = Bench::new(Some((from, to))).await;
        let mut is_found = bench.difference(&one_after_the_other()).await.is_some();
        for seed in 0..histories() {
            is_found = is_found || bench.difference(&history(seed, scale)).await.is_some();
        }
        assert!(is_found, "{to:?} in place of {from:?} goes unnoticed");
    }
}

#[tokio::test]
async fn the_scripts_have_the_digests_of_the_ledger() {
    let mut bench = Bench::new(None).await;
    let mut random = Random(5);
    let tickets = (0..2_000).map(|n| {
        let ticket = Ticket(u128::from(random.next()) << 64 | u128::from(random.next()));
        if n % 2 == 0 { ticket } else { ticket.series().ticket(n) }
    });
    let tickets: Vec<Ticket> = tickets.collect();
    let script = concat!(
        include_str!("../src/store/redis/lua/begin.lua"),
        "local sums = {}
         for i = 4, #ARGV do sums[#sums + 1] = format('%.0f', digest_of(ARGV[i])) end
         return sums"
    );
    let mut ask = redis::cmd("EVAL");
    ask.arg(script).arg(0).arg(&["1", "", "0"]);
    for ticket in &tickets {
        ask.arg(ticket.to_string());
    }
    let sums: Vec<String> = ask.query_async(&mut bench.ears).await.unwrap();
    let expected = tickets.iter().map(|ticket| ticket.digest().to_string());
    assert!(sums.into_iter().eq(expected));
}

#[tokio::test]
async fn only_so_many_causes_of_a_series_are_remembered_and_those_of_the_lowest_numbers_go_first() {
    let mut bench = Bench::new(None).await;
    let ticket = |number| Ticket(7 << 32).series().ticket(number);
    let cancels = (1..=70).map(|number| Ask::Cancel {
        ticket: ticket(number),
        remember: 1_000_000_000,
        attach: None,
    });
    let looks = (1..=71).map(|number| Ask::Release { ticket: ticket(number), slots: None });
    let asks: Vec<Ask> = cancels.chain(looks).collect();
    let history: Vec<Event> = asks
        .chunks(64)
        .map(|asks| Event::Call {
            step: 1,
            inbox: None,
            fence: FenceSeen::None,
            asks: asks.to_vec(),
        })
        .collect();
    assert_eq!(bench.difference(&history).await, None);
}

#[tokio::test]
async fn only_so_many_series_are_remembered_and_the_oldest_go_first() {
    let mut bench = Bench::new(None).await;
    let cancels = |from: u128| {
        (0..64).map(move |i| Ask::Cancel {
            ticket: Ticket((from + i) << 32 | 1),
            remember: 1_000_000_000 + (from + i) as u64,
            attach: None,
        })
    };
    let history = (0..1030).map(|i| Event::Call {
        step: 1,
        inbox: None,
        fence: FenceSeen::None,
        asks: cancels(i * 64).collect(),
    });
    let history = history.collect::<Vec<_>>();
    assert_eq!(bench.difference(&history).await, None);
    let kept: u64 = redis::cmd("ZLEXCOUNT")
        .arg(format!("{KEY}:o"))
        .arg("[p")
        .arg("(q")
        .query_async(&mut bench.ears)
        .await
        .unwrap();
    assert!((65_536..65_536 + 64).contains(&kept), "{kept}");
}
