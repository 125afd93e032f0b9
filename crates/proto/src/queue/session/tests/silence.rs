//! A store that does not answer, and a store whose clock is set.

use super::{ON_AND_ON, ONCE, TTL, net::*};
use crate::{
    Inbox,
    queue::{
        Delivery, How, Replies, Reply, Request,
        session::{Answer, Bearings, DeliveryEnd, Event, Session},
    },
    session::{CallFailure, JumpBound, SessionConfig},
    time::{MILLISECOND, SECOND},
};

const LOSES_REPLIES: Fate = Fate {
    lose_requests: 0,
    lose_replies: 100,
    repeat: 0,
    lose_wakeups: false,
    slow: false,
    lag: 0,
    count_from_reply: false,
    cut_off: None,
};

#[test]
fn a_push_whose_answer_was_lost_is_done_once_and_answered() {
    let mut net = Net::new(1, 7);
    net.push_text(0, "first");
    net.run_for(SECOND);
    net.fate = LOSES_REPLIES;
    let one_off = net.push_text(0, "x");
    net.run_for(10 * SECOND);
    assert!(!net.answers.contains_key(&(0, one_off)));
    net.fate = Fate::default();
    net.run_for(5 * SECOND);
    assert!(matches!(net.answers[&(0, one_off)], Answer::Done(Reply::Pushed { .. })));
    assert_eq!(net.pushed["x"], 1);
}

#[test]
fn after_its_deadline_nobody_can_say_whether_a_push_was_done_and_things_go_on() {
    let mut net = Net::new(1, 7);
    net.push_text(0, "first");
    net.run_for(SECOND);
    net.fate = LOSES_REPLIES;
    let one_off = net.push_text(0, "x");
    net.run_for(SECOND);
    let behind = net.push_text(0, "behind");
    net.run_for(29 * SECOND);
    assert!(!net.answers.contains_key(&(0, one_off)));
    net.run_for(3 * SECOND);
    assert_eq!(net.answers[&(0, one_off)], Answer::Unknown);
    assert!(!net.answers.contains_key(&(0, behind)));
    net.fate = Fate::default();
    net.run_for(5 * SECOND);
    assert!(matches!(net.answers[&(0, behind)], Answer::Done(_)));
    assert_eq!((net.pushed["x"], net.pushed["behind"]), (1, 1));
}

#[test]
fn silence_means_danger_and_then_loss_before_the_lease_ends_and_then_it_is_delivered_again() {
    let mut net = Net::new(2, 7);
    net.push_text(0, "x");
    net.pop(1, want(1, ONCE, TTL));
    net.run_for(SECOND);
    net.pop(0, want(1, ONCE, TTL));
    net.fate.cut_off = Some(1);
    for _ in 0..400 {
        net.run_for(SECOND / 10);
        net.check();
    }
    let when = |what: fn(&Event) -> bool| net.told.iter().find(|told| what(&told.2)).unwrap().1;
    let danger = when(|event| matches!(event, Event::Danger { .. }));
    let lost = when(|event| matches!(event, Event::Lost { .. }));
    assert!(danger < lost);
    assert_eq!(net.in_hand(0).len(), 1);
    assert_eq!(net.held.values().next().unwrap().attempt, 2);
}

/// Returns whether a worker that was cut off believes in its delivery for longer than the ledger
/// does, with the smallest possible margin.
fn outlasts_the_lease(count_from_reply: bool) -> bool {
    let config = SessionConfig { clock_bound: JumpBound::Off, ..SessionConfig::default() };
    let mut net = Net::with(1, 7, &config);
    net.push_text(0, "x");
    net.run_for(SECOND);
    net.fate = Fate { lag: 300 * MILLISECOND, count_from_reply, ..Fate::default() };
    net.pop(0, want(1, ONCE, 3 * SECOND));
    net.run_for(700 * MILLISECOND); // delivered, and not yet renewed
    assert_eq!(net.in_hand(0).len(), 1);
    net.fate.cut_off = Some(0);
    (0..600).any(|_| {
        net.run_for(10 * MILLISECOND);
        net.somebody_is_wrong()
    })
}

#[test]
fn a_session_that_counted_from_the_reply_would_be_found_out() {
    assert!(!outlasts_the_lease(false));
    assert!(outlasts_the_lease(true));
}

#[test]
fn what_was_lost_in_silence_goes_back_once_the_store_is_there_again() {
    let mut net = Net::new(2, 7);
    net.push_text(0, "x");
    net.pop(1, want(1, ONCE, 100 * SECOND));
    net.run_for(SECOND);
    net.fate.cut_off = Some(1);
    net.run_for(100 * SECOND);
    assert!(net.held.is_empty());
    net.fate = Fate::default();
    net.run_for(3 * SECOND);
    net.pop(0, want(1, ONCE, TTL));
    net.run_for(SECOND);
    assert_eq!(net.in_hand(0).len(), 1);
    assert!(net.sessions[1].is_idle());
}

#[test]
fn a_finish_that_may_have_been_done_is_unknown_and_is_told_again() {
    let mut net = Net::new(1, 7);
    net.push_text(0, "x");
    net.pop(0, want(1, ONCE, 600 * SECOND));
    net.run_for(SECOND);
    let delivery = net.in_hand(0)[0];
    net.fate.lose_requests = 100;
    net.finish(delivery, How::Acknowledge);
    net.run_for(32 * SECOND);
    assert_eq!(net.ends[&delivery], DeliveryEnd::Unknown);
    net.fate = Fate::default();
    net.run_for(3 * SECOND);
    assert!(net.state.is_at_rest(), "the acknowledgement got through in the end");
    assert!(net.sessions[0].is_idle());
}

#[test]
fn a_worker_goes_on_after_a_silence() {
    let mut net = Net::new(2, 7);
    net.pop(1, want(2, ON_AND_ON, TTL));
    net.run_for(SECOND);
    net.fate.cut_off = Some(1);
    net.run_for(300 * SECOND);
    net.fate = Fate::default();
    net.run_for(3 * SECOND);
    net.push_text(0, "x");
    net.run_for(SECOND);
    assert_eq!(net.in_hand(1).len(), 1);
}

#[test]
fn a_store_whose_clock_was_set_forward_refuses_once_and_is_asked_again() {
    let mut net = Net::new(1, 7);
    net.push_text(0, "first");
    net.run_for(SECOND);
    net.clock_step = 3_600_000_000;
    let one_off = net.push_text(0, "x");
    net.run_for(SECOND);
    assert!(matches!(net.answers[&(0, one_off)], Answer::Done(Reply::Pushed { .. })));
    assert_eq!(net.pushed["x"], 1);
}

#[test]
fn deadlines_do_not_go_back_when_the_store_s_clock_is_set_back() {
    let (mut session, mut now) = (session(Bearings::default()), 0);
    let mut last = 0;
    for clock in [100_000, 50_000, 200_000] {
        session.one_off(now, Request::Leave);
        loop {
            let call = session.poll_call(now).unwrap();
            let number = call.batch.number;
            assert!(number == 0 || call.batch.not_after >= last);
            last = last.max(call.batch.not_after);
            let answers = call.batch.requests.iter().map(|_| Reply::Left).collect();
            session.handle_replies(now, call.id, replies(clock * SECOND, answers));
            now += SECOND;
            if number > 0 {
                break;
            }
        }
    }
}

fn session(bearings: Bearings) -> Session {
    Session::new(Inbox(7), name(), SessionConfig::default(), bearings)
}

fn replies(now: u64, replies: alloc::vec::Vec<Reply>) -> Replies {
    Replies { now, replies, backlog: false, look_in: None }
}

fn knows_the_clock() -> Bearings {
    Bearings { number: 5, not_after: 0, clock: Some((1000 * SECOND, 0, 0)), seen: 1 }
}

#[test]
fn the_same_batch_is_sent_until_its_outcome_is_known_and_the_next_has_the_next_number() {
    let mut session = session(knows_the_clock());
    session.one_off(0, Request::Push(item("x")));
    let first = session.poll_call(0).unwrap();
    assert_eq!((first.batch.number, first.batch.not_after), (6, 1030 * SECOND));
    session.one_off(0, Request::Push(item("y")));
    assert!(session.poll_call(0).is_none());
    let failure = CallFailure { maybe_executed: true, is_passing: true, is_full: false };
    session.handle_failure(SECOND, first.id, failure);
    let again = session.poll_call(3 * SECOND).unwrap();
    assert_eq!(again.batch, first.batch);
    let pushed = Reply::Pushed { id: crate::queue::ItemId(9) };
    session.handle_replies(4 * SECOND, again.id, replies(1004 * SECOND, [pushed].into()));
    let next = session.poll_call(4 * SECOND).unwrap();
    assert_eq!(next.batch.number, 7);
    assert_eq!(session.bearings().number, 7);
}

#[test]
fn what_only_reads_has_no_number() {
    let mut session = session(knows_the_clock());
    session.one_off(0, Request::Inspect { rows: 1 });
    assert_eq!(session.poll_call(0).unwrap().batch.number, 0);
}

#[test]
fn a_store_that_refuses_for_good_is_not_asked_again_for_anybody() {
    let mut session = session(knows_the_clock());
    let one_off = session.one_off(0, Request::Push(item("x")));
    let pop = session.pop(want(1, ON_AND_ON, TTL));
    let call = session.poll_call(0).unwrap();
    let failure = CallFailure { maybe_executed: false, is_passing: false, is_full: false };
    session.handle_failure(0, call.id, failure);
    let answer = Answer::NotDone;
    assert_eq!(session.poll_event(), Some(Event::Answer { one_off, answer }));
    assert_eq!(session.poll_event(), Some(Event::Failed { pop }));
}

#[test]
fn a_full_store_refuses_pushes_and_pops_at_once_and_drops_nothing_else() {
    let mut net = Net::new(1, 7);
    net.push_text(0, "x");
    net.pop(0, want(1, ONCE, TTL));
    net.run_for(SECOND);
    let delivery = net.in_hand(0)[0];
    let mut session = net.sessions.remove(0);
    let now = net.now;
    while session.poll_event().is_some() {}
    session.finish(delivery, How::Acknowledge);
    let one_off = session.one_off(now, Request::Push(item("y")));
    let call = session.poll_call(now).unwrap();
    let full = CallFailure { maybe_executed: false, is_passing: true, is_full: true };
    session.handle_failure(now, call.id, full);
    assert_eq!(session.poll_event(), Some(Event::Answer { one_off, answer: Answer::NotDone }));
    assert_eq!(session.poll_event(), None);
    let at = session.poll_timeout().unwrap();
    let call = session.poll_call(at).unwrap();
    let how = How::Acknowledge;
    assert_eq!(call.batch.requests, [Request::Finish { delivery, how }]);
}

#[test]
fn what_a_pop_delivered_that_was_given_up_is_found_and_given_back() {
    let mut net = Net::new(2, 7);
    net.push_text(0, "x");
    net.run_for(SECOND);
    let pop = net.pop(1, want(1, ONCE, 24 * 3600 * SECOND));
    net.run_for(2_000);
    net.fate = LOSES_REPLIES;
    net.run_for(40 * SECOND);
    assert!(net.told.iter().any(|(_, _, event)| *event == Event::Failed { pop }));
    net.fate = Fate::default();
    net.run_for(3 * SECOND);
    net.pop(0, want(1, ONCE, TTL));
    net.run_for(SECOND);
    assert_eq!(net.in_hand(0).len(), 1);
    assert!(net.sessions[1].is_idle());
}

#[test]
fn what_comes_after_a_batch_was_given_up_is_given_back() {
    let mut session = session(knows_the_clock());
    session.pop(want(1, ONCE, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_timeout(100 * SECOND);
    assert!(matches!(session.poll_event(), Some(Event::Failed { .. })));
    let delivery = Delivery { id: crate::queue::ItemId(3), fence: crate::Fence(4) };
    let popped = crate::queue::Popped {
        delivery,
        attempt: 1,
        most: 5,
        priority: crate::Priority::default(),
        group: None,
        about: alloc::string::String::new(),
        pushed: 0,
        payload: alloc::vec::Vec::new(),
    };
    let popped = Reply::Popped { items: [popped].into(), valid_for: None, left: 1 };
    session.handle_replies(101 * SECOND, call.id, replies(1101 * SECOND, [popped].into()));
    let call = session.poll_call(101 * SECOND).unwrap();
    let how = How::GiveBack { delay: 0 };
    assert!(call.batch.requests.contains(&Request::Finish { delivery, how }));
}
