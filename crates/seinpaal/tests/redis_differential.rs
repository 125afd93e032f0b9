//! The Redis scripts are compared with the ledger, operation by operation, on random histories on a real
//! server with a clock of the test's own. A difference is made as short as it goes and printed.

#[path = "redis_differential/bench.rs"]
mod bench;
#[path = "redis_differential/beside.rs"]
mod beside;
#[path = "support/history.rs"]
mod history;
#[path = "redis_differential/line.rs"]
mod line;
#[path = "redis_differential/lone.rs"]
mod lone;
#[path = "redis_differential/made.rs"]
mod made;
#[path = "redis_differential/made_line.rs"]
mod made_line;
#[path = "redis_differential/mistakes.rs"]
mod mistakes;
#[path = "redis_differential/mistakes_entering.rs"]
mod mistakes_entering;
#[path = "redis_differential/mistakes_leaving.rs"]
mod mistakes_leaving;
#[path = "redis_differential/mistakes_of_rows.rs"]
mod mistakes_of_rows;
#[path = "support/model.rs"]
mod model;
#[path = "redis_differential/named.rs"]
mod named;

use bench::{Bench, KEY};
use history::{Ask, CALM, CALM_CROWD, Event, FenceSeen, LARGE, SMALL, guarded_history, history};
use mistakes::{Drawn, FEW_ARE_MANY, FEW_FIT, FEW_IN_LINE, MISTAKES, NO_LINES, TALLIES};
use mistakes_entering::ENTERING;
use mistakes_leaving::LEAVING;
use mistakes_of_rows::OF_ROWS;
use seinpaal_proto::Ticket;
use seinpaal_rig::RedisServer;

async fn compare_many(seeds: std::ops::Range<u64>, drawn: impl Into<Drawn>) {
    compare_many_on(&mut Bench::new(None).await, seeds, drawn).await;
}

async fn compare_many_on(bench: &mut Bench, seeds: std::ops::Range<u64>, drawn: impl Into<Drawn>) {
    let drawn = drawn.into();
    if let Some((seed, history)) = first_different(bench, seeds, drawn).await {
        let short = bench.shorten(history).await;
        let difference = bench.difference(&short).await.unwrap_or_default();
        panic!(
            "seed {seed}, {drawn:?}: the script differs from the ledger\n{short:#?}\n{difference}"
        );
    }
}

async fn first_different(
    bench: &mut Bench,
    seeds: std::ops::Range<u64>,
    drawn: Drawn,
) -> Option<(u64, Vec<Event>)> {
    for seed in seeds {
        let history = drawn.history(seed);
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
    let sizes = [
        ("small", 0..histories, SMALL),
        ("calm", 0..histories, CALM),
        ("large", 0..histories / 4, LARGE),
    ];
    for (size, seeds, scale) in sizes {
        if let Some((seed, _)) = first_different(&mut bench, seeds, scale.into()).await {
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

/// Those of many clients, and those of one or two, which take the lean path once the guard is over.
fn guarded_histories() -> impl Iterator<Item = Vec<Event>> {
    let many = (0..histories()).map(|seed| guarded_history(seed, SMALL));
    let few =
        (0..histories()).flat_map(|seed| [1, 2].map(|n| lone::guarded_history(seed, n, GUARD)));
    let line = (0..histories()).map(|seed| line::guarded_history(seed, 3, GUARD));
    many.chain(few).chain(line)
}

#[tokio::test]
async fn under_a_restart_guard_the_scripts_do_what_the_ledger_does() {
    let mut bench = Bench::with(None, Some(GUARD)).await;
    for (i, history) in guarded_histories().enumerate() {
        let Some(difference) = bench.difference(&history).await else { continue };
        let short = bench.shorten(history).await;
        panic!("history {i}: {difference}\nin short {short:#?}");
    }
}

#[tokio::test]
async fn a_mistake_in_the_guard_does_not_stay_hidden() {
    let mistakes = [
        ("/ 5)), 0)", "/ 4)), 0)"),
        ("left, wall = GUARD_LENGTH, now end", "left, wall = 0, now end"),
        ("#ARGV > 67 or guarded_for > 0 or", "#ARGV > 67 or"),
        ("not head.paused and guarded_for == 0", "not head.paused"),
        ("min(head.bound, guarded_for)", "head.bound"),
        ("    if about or granted then\n", "    if false then\n"),
        ("if about or granted then", "if granted then"),
        ("if about or granted then", "if about then"),
        ("or not string.find(marker, ' 0 ', 1, true)", ""),
        ("if type(marker) ~= 'string' or", "if type(marker) == 'string' and"),
        ("granted, is_cold = true, true", "is_cold = true"),
        ("= 1, 0, nil, waiting > 0, false,", "= 1, 0, nil, false, false,"),
    ];
    let mut unnoticed = Vec::new();
    for (from, to) in mistakes {
        if !guard_histories_find((from, to), false).await
            && !guard_histories_find((from, to), true).await
        {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}

/// Also where the guard begins at another name first, so that what is alone at its name meets it.
async fn guard_histories_find(mistake: (&'static str, &'static str), is_bundled: bool) -> bool {
    let bench = Bench::with(Some(mistake), Some(GUARD)).await;
    let mut bench = if is_bundled { bench.bundled() } else { bench };
    for history in guarded_histories() {
        if bench.difference(&history).await.is_some() {
            return true;
        }
    }
    false
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

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_clients_do_as_sessions_do() {
    for changes in [None, Some(NO_LINES)] {
        let mut bench = Bench::new(changes).await;
        compare_many_on(&mut bench, 0..histories(), CALM).await;
        compare_many_on(&mut bench, 0..histories() / 4, CALM_CROWD).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_one_client_is_alone_or_nearly() {
    for drawn in [Drawn::Lone, Drawn::Pair] {
        compare_many(0..histories(), drawn).await;
        let mut bench = Bench::new([FEW_ARE_MANY, FEW_FIT]).await;
        compare_many_on(&mut bench, 0..histories() / 2, drawn).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_a_few_hand_over_to_each_other() {
    for sessions in 1..=4 {
        compare_many(0..histories(), Drawn::Line(sessions)).await;
    }
    for few in [FEW_ARE_MANY, FEW_IN_LINE] {
        let mut bench = Bench::new(Some(few)).await;
        compare_many_on(&mut bench, 0..histories() / 2, Drawn::Line(3)).await;
    }
}

/// So that the histories compare what they are made for.
#[tokio::test]
async fn most_calls_are_done_at_a_line_where_a_few_hand_over_to_each_other() {
    let mut bench = Bench::new(Some(TALLIES)).await;
    for sessions in 2..=4 {
        let (mut calls, mut done) = (0, 0);
        for seed in 0..40 {
            let history = Drawn::Line(sessions).history(seed);
            calls += history.len();
            done += bench.tallied(&history).await;
        }
        assert!(3 * done > calls, "{sessions} sessions: only {done} of {calls}");
    }
}

/// Where time is real, as it is here for once.
#[tokio::test]
async fn what_a_few_have_left_is_gone_a_second_after_it_is_forgotten() {
    let left = made_line::left_by_two();
    let mut bench = Bench::new(Drawn::TightLine.changes()).await;
    assert!(bench.left_after(&left).await <= 61_000);
    // Its price is not paid for ever.
    let short = ("left > most and uses < MOST_SHORT)", "left > most and uses < 1)");
    let mut bench = Bench::new(Drawn::TightLine.changes().into_iter().chain([short])).await;
    assert!(bench.left_after(&left).await > 61_000);
}

#[tokio::test]
async fn who_learns_that_all_is_taken_leaves_nothing() {
    let mut bench = Bench::new(None).await;
    let (before, after) = made_line::before_and_after_others_find_it_full();
    assert_eq!(bench.length_after(&before).await, bench.length_after(&after).await);
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_on_a_server_that_sorts_words() {
    for mutation in [None, Some(FEW_ARE_MANY)] {
        let mut bench = Bench::on(RedisServer::of_a_language(), mutation, None).await;
        for scale in [SMALL, CALM] {
            compare_many_on(&mut bench, 0..histories(), scale).await;
        }
        compare_many_on(&mut bench, 0..histories() / 4, LARGE).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_few_rows_are_many() {
    let mut bench = Bench::new(Some(FEW_ARE_MANY)).await;
    compare_many_on(&mut bench, 0..histories(), SMALL).await;
    compare_many_on(&mut bench, 0..histories(), CALM).await;
    compare_many_on(&mut bench, 0..histories() / 4, CALM_CROWD).await;
    compare_many_on(&mut bench, 0..histories() / 4, LARGE).await;
}

async fn first_unlike(bench: &mut Bench, drawn: impl Into<Drawn>) -> Option<String> {
    let drawn = drawn.into();
    for (i, history) in made::all().iter().enumerate() {
        if let Some(difference) = bench.list_difference(history).await {
            return Some(format!("made history {i}: {difference}"));
        }
    }
    for seed in 0..histories() / 8 {
        let difference = match bench.is_guarded() {
            true => bench.list_difference(&guarded_history(seed, SMALL)).await,
            false => bench.list_difference(&drawn.history(seed)).await,
        };
        if let Some(difference) = difference {
            return Some(format!("seed {seed}, {drawn:?}: {difference}"));
        }
    }
    None
}

#[tokio::test]
async fn a_bundle_does_at_each_name_what_the_ledger_does() {
    for mutation in [None, Some(FEW_ARE_MANY)] {
        let mut bench = Bench::new(mutation).await.bundled();
        for drawn in [SMALL.into(), CALM.into(), Drawn::Lone, Drawn::Pair, Drawn::Line(3)] {
            compare_many_on(&mut bench, 0..histories() / 4, drawn).await;
        }
    }
    let mut bench = Bench::with(None, Some(GUARD)).await.bundled();
    for (i, history) in guarded_histories().enumerate().filter(|(i, _)| i % 4 == 0) {
        assert_eq!(bench.difference(&history).await, None, "history {i}");
    }
}

#[tokio::test]
async fn a_mistake_in_a_bundle_does_not_stay_hidden() {
    let mistakes = [
        ("(i - 1) * width + 1", "1"),
        ("unpack(ARGV, at + 1, last)", "unpack(ARGV, at, last)"),
        ("answers[i], at = answer", "answers[names + 1 - i], at = answer"),
    ];
    for (from, to) in mistakes {
        let mut bench = Bench::new(Some((from, to))).await.bundled();
        let mut is_found = false;
        for seed in 0..histories() {
            is_found = is_found || bench.difference(&history(seed, SMALL)).await.is_some();
        }
        assert!(is_found, "{to:?} in place of {from:?} goes unnoticed");
    }
}

#[tokio::test]
async fn a_list_says_of_a_name_what_an_inspection_says() {
    for drawn in [SMALL.into(), CALM.into(), CALM_CROWD.into(), Drawn::Lone, Drawn::Line(3)] {
        assert_eq!(first_unlike(&mut Bench::new(None).await, drawn).await, None);
        assert_eq!(first_unlike(&mut Bench::new(Some(FEW_ARE_MANY)).await, drawn).await, None);
    }
    assert_eq!(first_unlike(&mut Bench::with(None, Some(GUARD)).await, SMALL).await, None);
}

#[tokio::test]
async fn a_mistake_in_the_list_does_not_stay_hidden() {
    let mistakes = [
        ("  if holders + waiting > 0 and passed + step >= due then", "  if false then"),
        ("if lease and (lease.ends <= clock or", "if lease and (false or"),
        ("  if waiting > 0 and held < limit and not is_paused", "  if false"),
        ("clock + min(step, bound), line) then", "clock, line) then"),
        ("line and {} or { 'q', 'k' }", "line and {} or { 'k', 'q' }"),
        ("== 0 and pinned < 0 and not is_paused then", "== 0 and pinned < 0 then"),
        ("8 * ranges + 1)) }", "8 * ranges + 2)) }"),
        ("if max(now - wall, 0) >= left then", "if false then"),
        ("limit, limit, -1, held, holders, 0", "limit, limit, -1, holders, held, 0"),
        ("for field, row in pairs(fields or {}) do", "for field, row in pairs({}) do"),
        ("for k = 1, line and min(", "for k = 1, false and min("),
        ("holders, 0, recent, false)", "holders, 0, 0, false)"),
        ("_, left, _, recent = read(FIRST", "_, left, recent = read(FIRST"),
        ("holders, waiting, recent,\n", "holders, waiting, 0,\n"),
    ];
    let mut unnoticed = Vec::new();
    for (from, to) in mistakes {
        let mut is_found = false;
        for drawn in [SMALL.into(), CALM.into(), CALM_CROWD.into(), Drawn::Lone, Drawn::Line(3)] {
            is_found = is_found
                || first_unlike(&mut Bench::new(Some((from, to))).await, drawn).await.is_some();
        }
        if !is_found {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_in_histories_made_for_one_thing() {
    let mut bench = Bench::new(None).await;
    for history in made::all() {
        assert_eq!(bench.difference(&history).await, None);
    }
}

#[tokio::test]
async fn a_mistake_in_a_script_does_not_stay_hidden() {
    no_mistake_stays_hidden(MISTAKES).await;
}

#[tokio::test]
async fn a_mistake_where_somebody_comes_to_a_line_does_not_stay_hidden() {
    no_mistake_stays_hidden(ENTERING).await;
}

#[tokio::test]
async fn a_mistake_where_somebody_leaves_a_line_does_not_stay_hidden() {
    no_mistake_stays_hidden(LEAVING).await;
}

#[tokio::test]
async fn a_mistake_between_lines_and_rows_does_not_stay_hidden() {
    no_mistake_stays_hidden(OF_ROWS).await;
}

async fn no_mistake_stays_hidden(mistakes: &[(&'static str, &'static str, Drawn)]) {
    let mut unnoticed = Vec::new();
    for &(from, to, drawn) in mistakes {
        let changes = [(from, to)].into_iter().chain(drawn.changes());
        let mut bench = Bench::new(changes).await;
        let mut is_found = false;
        for history in made::all() {
            is_found = is_found || bench.difference(&history).await.is_some();
        }
        for seed in 0..histories() {
            is_found = is_found || bench.difference(&drawn.history(seed)).await.is_some();
        }
        if !is_found {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}

#[tokio::test]
async fn the_scripts_have_the_digests_of_the_ledger() {
    let mut bench = Bench::new(None).await;
    let mut random = seinpaal_draw::Draw::new(5);
    let tickets = (0..2_000).map(|n| {
        let ticket = Ticket(u128::from(random.number()) << 64 | u128::from(random.number()));
        if n % 2 == 0 { ticket } else { ticket.series().ticket(n) }
    });
    let tickets: Vec<Ticket> = tickets.collect();
    let script = concat!(
        include_str!("../../redis/src/lua/forms.lua"),
        include_str!("../../redis/src/lua/begin.lua"),
        "local sums = {}
         for i = 4, #ARGV do sums[#sums + 1] = format('%.0f', digest_of(ARGV[i])) end
         return sums"
    );
    let mut ask = redis::cmd("EVAL");
    ask.arg(script.replace("SIZE_OF_HEAD", "0")).arg(0).arg(&["1", "", "0"]);
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
        .arg("[e")
        .arg("(f")
        .query_async(&mut bench.ears)
        .await
        .unwrap();
    assert!((65_536..65_536 + 64).contains(&kept), "{kept}");
}
