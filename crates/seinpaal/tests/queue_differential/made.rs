//! Histories that are made for what hardly ever happens by chance, each with a mistake that it
//! finds.

use seinpaal_proto::{
    Name,
    queue::{Batch, Dedup, Pop, Push},
    time::SECOND,
};

use super::{
    Event, Seen, Sketch, Turn, a_push,
    bench::{self, Bench, everything},
    inbox, one_call,
};

const DAY: u64 = 86_400 * SECOND;
const HOUR: i64 = 3_600 * SECOND as i64;

/// The scripts do what the ledger does, and with this mistake they do not.
async fn finds(history: &[Event], mistake: (&str, &str)) {
    assert_eq!(Bench::new(None).await.difference(history).await, None);
    let difference = Bench::new(Some(mistake)).await.difference(history).await;
    assert!(difference.is_some(), "{mistake:?}");
}

#[tokio::test]
async fn a_renewal_of_a_listed_item_leaves_nothing_in_the_order() {
    let renew = Sketch::Renew { ttl: SECOND, margin: SECOND / 4, deliveries: vec![0] };
    let mut history = vec![one_call(1, vec![Sketch::Push(a_push())])];
    for sketches in [vec![renew, Sketch::Acknowledge(0)], vec![]] {
        history.push(one_call(1, vec![Sketch::Push(a_push())]));
        history.push(one_call(1, vec![Sketch::Pop(everything())]));
        history.extend(sketches.into_iter().map(|sketch| one_call(1, vec![sketch])));
    }
    history.push(one_call(2 * SECOND as i64, vec![Sketch::Inspect { rows: 3 }]));
    history.push(one_call(2 * SECOND as i64, vec![Sketch::Inspect { rows: 3 }]));
    let only = "if ttl and not has_room then\n          n = #add";
    let always = "if ttl then\n          add = add or {}\n          n = #add";
    finds(&history, (only, always)).await;
}

/// The listed bytes of the last delivery stand there a second time, across others: in the second
/// half of the first item's number, the first delivery's fence, and the first half of the second
/// item's number.
fn one_delivery_across_others() -> Vec<Event> {
    let high = bench::START >> 32;
    let at = |above: u64, low: u64| ((high + above) << 32) + low;
    let pushes = [at(1, high + 4), at(3, 7), at(4, high + 2)];
    let pops = [at(2, high + 5), at(3, 9), at(5, high + 3)];
    let mut now = bench::START;
    let mut call = |time: u64, sketch| {
        let event = long_call(time as i64 - now as i64, sketch);
        now = time;
        event
    };
    let mut history = vec![call(bench::START, Sketch::Pop(Pop { ttl: DAY, margin: DAY, ..one() }))];
    for (push, pop) in pushes.into_iter().zip(pops) {
        history.push(call(push, Sketch::Push(a_push())));
        history.push(call(pop, Sketch::Pop(Pop { ttl: DAY, margin: DAY, ..one() })));
    }
    history.push(call(pops[2] + 1, Sketch::Acknowledge(0)));
    history.push(call(pops[2] + 2, Sketch::Inspect { rows: 3 }));
    history
}

/// A call of a session that is remembered for longer than any history takes.
fn long_call(step: i64, sketch: Sketch) -> Event {
    long_calls(step, vec![sketch])
}

fn one() -> Pop {
    Pop { items: 1, ..everything() }
}

#[tokio::test]
async fn a_delivery_that_stands_across_others_is_not_taken_for_itself() {
    let history = one_delivery_across_others();
    finds(&history, ("if place and place % LISTED_BYTES == 1 then", "if place then")).await;
}

#[tokio::test]
async fn no_more_is_listed_than_may_be_when_items_are_popped_alone() {
    let mut history = vec![long_call(1, Sketch::Pop(one()))];
    history.extend((0..66).map(|_| long_call(1, Sketch::Push(a_push()))));
    history.push(long_call(1, Sketch::Pop(everything())));
    history.extend((0..2).map(|_| long_call(1, Sketch::Pop(one()))));
    let has_room = ",\n        #listed + most * LISTED_BYTES <= MOST_LISTED * LISTED_BYTES";
    finds(&history, (has_room, ", true")).await;
}

/// A session that is known, and this many items, pushed one by one.
fn begun(items: usize) -> Vec<Event> {
    let known = [Event::Listen(inbox(1)), long_call(1, Sketch::Pop(one()))];
    known.into_iter().chain((0..items).map(|_| long_call(1, Sketch::Push(a_push())))).collect()
}

fn long_calls(step: i64, sketches: Vec<Sketch>) -> Event {
    let turn = Turn::Next(2 * DAY as i64);
    Event::Call { step, session: inbox(1), turn, seen: Seen::None, sketches }
}

#[tokio::test]
async fn an_acknowledgement_takes_its_own_delivery_out_of_the_list_and_no_other() {
    let mut history = begun(3);
    history.extend((0..3).map(|_| long_call(1, Sketch::Pop(one()))));
    history.push(long_call(1, Sketch::Acknowledge(1)));
    history.push(long_call(1, Sketch::Inspect { rows: 3 }));
    let all = "sub(listed, 1, place - 1) .. sub(listed, place + LISTED_BYTES)";
    finds(&history, (all, "sub(listed, 1, place - 1)")).await;
    finds(&history, (all, "sub(listed, place + LISTED_BYTES)")).await;
}

#[tokio::test]
async fn a_queue_that_loses_its_last_item_expires() {
    let mut history = begun(1);
    history.push(long_call(1, Sketch::Pop(one())));
    history.push(long_call(1, Sketch::Acknowledge(0)));
    finds(&history, ("  elseif milliseconds then", "  elseif false then")).await;
    let kept =
        "if ready + delayed + in_work + dead > 0 or limit >= 0 or group_limit >= 0 then\n    if";
    finds(&history, (kept, "if true then\n    if")).await;
}

/// A clock that lags behind would let the second lease live on.
fn two_leases_one_after_the_other(of_the_first: usize) -> Vec<Event> {
    let mut history = begun(of_the_first + 2);
    history.push(long_call(1, Sketch::Pop(Pop { items: of_the_first as u32, ..everything() })));
    history.push(long_calls(1, (0..of_the_first).map(Sketch::Acknowledge).collect()));
    history.push(long_call(1, Sketch::Pop(Pop { margin: DAY, ..one() })));
    history.push(long_call(5 * SECOND as i64, Sketch::Inspect { rows: 3 }));
    history
}

#[tokio::test]
async fn a_margin_binds_no_longer_than_its_lease() {
    let reset = "  if in_work == 0 then bound, first_end, first_wall = UNBOUNDED, UNBOUNDED, UNBOUNDED end\n  local n";
    for of_the_first in [1, 2] {
        finds(&two_leases_one_after_the_other(of_the_first), (reset, "  local n")).await;
    }
}

#[tokio::test]
async fn the_lease_of_an_item_that_was_popped_alone_ends() {
    let mut history = begun(1);
    history.push(long_call(1, Sketch::Pop(one())));
    history.extend((0..8).map(|_| long_call(SECOND as i64 / 5, Sketch::Push(a_push()))));
    history.push(long_call(1, Sketch::Inspect { rows: 3 }));
    let rest = "      if ends_wall < first_wall then first_wall = ends_wall end\n      if margin < bound then bound = margin end\n      entries";
    let whole = ["      if ends < first_end then first_end = ends end\n", rest].concat();
    finds(&history, (&whole, rest)).await;
}

#[tokio::test]
async fn an_acknowledgement_with_a_pop_is_answered_as_before_when_it_comes_again() {
    let mut history = begun(2);
    history.push(long_call(1, Sketch::Pop(one())));
    history.push(long_calls(1, vec![Sketch::Acknowledge(0), Sketch::Pop(one())]));
    let (session, sketches) = (inbox(1), Vec::new());
    history.push(Event::Call { step: 1, session, turn: Turn::Again, seen: Seen::None, sketches });
    finds(&history, ("kept .. pack(KEPT_POPPED,", "pack(KEPT_POPPED,")).await;
    finds(&history, ("sub(line, from, at - 1)", "sub(line, from, at)")).await;
}

/// No answer shows that the key was forgotten, so the test looks for its record.
#[tokio::test]
async fn a_key_is_forgotten_where_all_else_is_plain() {
    let dedup = Dedup { key: Name::new("k").unwrap(), window: SECOND };
    let mut history = begun(1);
    history.push(long_call(1, Sketch::Push(Push { dedup: Some(dedup), ..a_push() })));
    history.push(long_call(1, Sketch::Push(a_push())));
    history.push(long_call(2 * SECOND as i64, Sketch::Push(a_push())));
    for (mistake, is_kept) in [(None, false), (Some(("or first_key <= now then", "then")), true)] {
        let mut bench = Bench::new(mistake).await;
        assert!(bench.run(&history).await.is_ok());
        assert_eq!(bench.keeps("kk").await, is_kept, "{mistake:?}");
    }
}

/// So many items in work, all renewed in one call.
fn renewed_at_once(renewed: usize) -> Vec<Event> {
    let mut history = begun(0);
    for _ in 0..renewed.div_ceil(64) {
        history.push(long_calls(1, (0..64).map(|_| Sketch::Push(a_push())).collect()));
        history.push(long_call(1, Sketch::Pop(everything())));
    }
    let deliveries = (0..renewed).collect();
    history.push(long_call(1, Sketch::Renew { ttl: SECOND, margin: SECOND / 4, deliveries }));
    history
}

/// The ledger knows no bound. A session sends no more, and the server refuses what would hold up
/// other clients.
#[tokio::test]
async fn as_many_deliveries_are_renewed_in_one_call_as_a_session_sends_and_no_more() {
    finds(&renewed_at_once(Batch::MOST_DELIVERIES), ("MOST_RENEWED = 500", "MOST_RENEWED = 499"))
        .await;
    let too_many = renewed_at_once(Batch::MOST_DELIVERIES + 1);
    let refused = Bench::new(None).await.run(&too_many).await.err().expect("it is refused");
    assert!(refused.contains("SEINPAALARGUMENT the number of deliveries"), "{refused}");
    let unlooked = ("or #deliveries > MOST_RENEWED * LISTED_BYTES then", "then");
    assert!(Bench::new(Some(unlooked)).await.run(&too_many).await.is_ok());
}

/// What the pusher says of the item are the bytes that an item in work has in that place, with the
/// fence of an earlier delivery.
#[tokio::test]
async fn an_item_that_was_given_back_is_not_taken_for_one_in_work() {
    let fence = f64::from_bits(0x431a_3030_3030_3030);
    let about = [&fence.to_le_bytes()[..], &[b'x'; 64]].concat();
    let about = String::from_utf8(about).expect("each byte is a letter");
    let step = fence as i64 - bench::START as i64;
    let mut history = vec![long_call(step - 9, Sketch::Push(Push { about, ..a_push() }))];
    history.extend((0..5).map(|_| long_call(1, Sketch::Push(a_push()))));
    history.push(long_call(4, Sketch::Pop(one())));
    history.push(long_call(1, Sketch::GiveBack(0, 0)));
    history.push(long_call(1, Sketch::Acknowledge(0)));
    finds(&history, ("and byte(item) == 119\n          and", "and")).await;
}

#[tokio::test]
async fn a_renewal_of_nothing_changes_no_margin() {
    let mut history = begun(2);
    history.push(long_call(1, Sketch::Pop(Pop { margin: DAY, ..one() })));
    history.push(long_call(1, Sketch::Renew { ttl: SECOND, margin: 7_000, deliveries: vec![] }));
    history.push(long_call(5 * SECOND as i64, Sketch::Inspect { rows: 3 }));
    finds(&history, ("if #deliveries == 0 or", "if")).await;
}

#[tokio::test]
async fn what_an_answer_has_no_room_for_stays_in_the_order() {
    let large = || Sketch::Push(Push { payload: vec![7; 900_000], ..a_push() });
    let mut history = begun(0);
    history.extend((0..6).map(|_| long_call(1, large())));
    history.extend((0..2).map(|_| long_call(1, Sketch::Pop(everything()))));
    finds(&history, ("if i > 1 and bytes > room then break end", "")).await;
    finds(&history, ("if i > count then page[i] = nil else", "if i > count then else")).await;
}

#[tokio::test]
async fn what_is_renewed_while_the_list_is_full_stands_in_the_order() {
    let mut history = begun(0);
    for _ in 0..2 {
        history.push(long_calls(1, (0..64).map(|_| Sketch::Push(a_push())).collect()));
        history.push(long_call(1, Sketch::Pop(everything())));
    }
    history.push(long_call(1, Sketch::Renew { ttl: SECOND, margin: SECOND, deliveries: vec![0] }));
    let looks = (0..4).map(|_| long_call(2 * SECOND as i64, Sketch::Inspect { rows: 3 }));
    history.extend(looks);
    finds(&history, ("        if ttl and not has_room then\n", "        if false then\n")).await;
    finds(&history, ("if has_room then listed = left", "if true then listed = left")).await;
    let has_room = ",\n      #left + asked * LISTED_BYTES <= MOST_LISTED * LISTED_BYTES";
    finds(&history, (has_room, ", true")).await;
}

/// The straight path finds a batch late by `first_session`, which has to have the deadline of a
/// session that is only just beginning.
#[tokio::test]
async fn the_first_batch_of_a_session_that_is_late_is_not_done() {
    let mut history = begun(1);
    let (session, turn, sketches) = (inbox(2), Turn::Next(-1), vec![Sketch::Push(a_push())]);
    history.push(Event::Call { step: 1, session, turn, seen: Seen::None, sketches });
    let first = "    if not_after < first_session then first_session = not_after end\n";
    finds(&history, (first, "")).await;
}

/// The last number is most of a day ahead of the clock, as after a clock that was set back. Then
/// nothing but that number is left of the queue.
fn ahead_of_the_clock() -> Vec<Event> {
    let (session, seen) = (inbox(1), Seen::Near(20 * HOUR));
    let call = |sketches| Event::Call { step: 1, session, turn: Turn::Next(0), seen, sketches };
    let mut history = vec![call(vec![Sketch::Push(a_push())]), call(vec![Sketch::Push(a_push())])];
    history.push(call(vec![Sketch::Pop(everything())]));
    history.push(call(vec![Sketch::Acknowledge(0), Sketch::Acknowledge(1)]));
    history
}

#[tokio::test]
async fn a_queue_whose_last_number_is_ahead_of_the_clock_is_kept_until_the_clock_has_passed_it() {
    let (session, turn, seen) = (inbox(1), Turn::Unnumbered, Seen::None);
    let look = |step| Event::Call { step, session, turn, seen, sketches: Vec::new() };
    let mut history = ahead_of_the_clock();
    history.extend([look(SECOND as i64), look(HOUR), one_call(1, vec![Sketch::Push(a_push())])]);
    finds(&history, ("or (not ledger.is_new and ledger.owed() > 0) then", "then")).await;
    let hint = Event::Call { step: 1, session, turn, seen: Seen::Near(HOUR), sketches: Vec::new() };
    finds(&[hint], ("(not ledger.is_new and ledger.owed() > 0)", "(ledger.owed() > 0)")).await;
    let mut history = ahead_of_the_clock();
    history.extend([look(SECOND as i64), look(20 * HOUR), look(SECOND as i64)]);
    finds(&history, ("and ahead + 1 or 0", "and ahead + 1 or 1")).await;
}

#[tokio::test]
async fn the_keys_of_a_queue_outlive_a_last_number_that_is_ahead_of_the_clock() {
    let mut history = ahead_of_the_clock();
    let need = "    if ahead > need and ahead <= HALF_DAY + HALF_DAY then need = ahead + 1 end\n";
    finds(&history, (need, "")).await;
    let (session, turn, seen) = (inbox(1), Turn::Unnumbered, Seen::None);
    history.push(Event::Call { step: 1, session, turn, seen, sketches: Vec::new() });
    let general = "local need = max(head.memory - now, ledger.owed())";
    finds(&history, (general, "local need = max(head.memory - now, 0)")).await;
}
