//! Answers that are about several names.

use std::sync::Arc;

use seinpaal_proto::{
    Inbox, Request,
    session::{Call, Session, SessionConfig},
};
use tokio::sync::mpsc;

use super::{
    super::{
        DriverCommand, QueueSessions,
        plain_request::{PlainAnswer, plain_request},
        start::makings,
    },
    *,
};
use crate::{
    boottime::ClientClock,
    store::{
        Certainty, Store, StoreErrorKind,
        clock::Clock,
        memory::{MemoryHub, MemoryStore},
    },
};

/// A driver of which the test makes the calls, and what keeps its channels open.
struct Bench {
    driver: Driver,
    store: Arc<MemoryStore>,
    asked: u64,
    _commands: mpsc::UnboundedSender<DriverCommand>,
}

impl Bench {
    fn new() -> Self {
        let (config, clock) = (SessionConfig::default(), ClientClock::Machine);
        let (makings, ends) = makings(config.clone(), clock, "memory:".into()).expect("made");
        let inbox = Inbox(1);
        let store = MemoryStore::open(&MemoryHub::new(Clock::System), inbox, ends.news);
        let reading = store.first_reading();
        let queues = QueueSessions::new(inbox, config.clone(), reading, clock, "memory:".into());
        let session = Session::new(inbox, config);
        let driver = Driver::new(session, queues, Arc::clone(&store) as Arc<dyn Store>, makings);
        Self { driver, store, asked: 0, _commands: ends.commands }
    }

    /// Asks for a permit of each name, and returns the calls that are due.
    fn want(&mut self, names: &[&str]) -> (Vec<Call>, Vec<PlainAnswer>) {
        let now = self.driver.clock.now();
        let mut answers = Vec::new();
        for name in names {
            self.asked += 1;
            let (request, answer) = plain_request(name, self.asked);
            answers.push(answer);
            self.driver.take_command(now, DriverCommand::Acquire(request));
        }
        let calls = self.driver.calls(now);
        assert_eq!(calls.len(), names.len());
        (calls, answers)
    }

    fn failed_calls(&self) -> u64 {
        self.driver.statistics.read().failed_calls
    }
}

/// The tickets of calls that ask for one permit each, as a step of several names has them.
fn of_a_step(calls: &[Call]) -> Vec<(CallId, Ticket)> {
    let ticket = |call: &Call| match call.batch.requests.as_slice() {
        [Request::Acquire(want)] => want.ticket,
        other => panic!("{other:?}"),
    };
    calls.iter().map(|call| (call.id, ticket(call))).collect()
}

fn replies(store: &MemoryStore, call: &Call) -> Replies {
    store.call_in_place(&call.batch).expect("a store in memory answers at once").expect("answered")
}

fn forbidden() -> StoreError {
    StoreError::new(StoreErrorKind::Forbidden, Certainty::NotExecuted, "no right to do that")
}

fn silent() -> StoreError {
    StoreError::new(StoreErrorKind::Unreachable, Certainty::Unknown, "the line is cut")
}

#[test]
fn a_step_of_several_names_that_fails_is_one_failed_call() {
    let mut bench = Bench::new();
    let (calls, _answers) = bench.want(&["a", "b"]);
    bench.driver.take_done(EndedCall::Together(of_a_step(&calls), Err(silent())));
    assert_eq!(bench.failed_calls(), 1);
}

#[test]
fn a_bundle_that_fails_is_one_failed_call() {
    let mut bench = Bench::new();
    let (calls, _answers) = bench.want(&["a", "b"]);
    let results = calls.iter().map(|call| (call.id, Err(silent()))).collect();
    bench.driver.take_done(EndedCall::Bundle(results));
    assert_eq!(bench.failed_calls(), 1);
}

#[test]
fn a_silence_after_a_step_was_answered_is_not_explained_by_an_error_before_it() {
    for is_granted in [true, false] {
        let mut bench = Bench::new();
        let (calls, _answers) = bench.want(&["a", "b"]);
        bench.driver.last_error = Some(silent());
        let granted: Vec<_> = calls.iter().map(|call| replies(&bench.store, call)).collect();
        let answer = match is_granted {
            true => Together::Granted(granted),
            false => Together::Refused(0, granted[0].clone()),
        };
        bench.driver.take_done(EndedCall::Together(of_a_step(&calls), Ok(answer)));
        assert!(!bench.driver.silence().to_string().contains("the line is cut"), "{is_granted}");
    }
}

#[test]
fn a_request_that_is_refused_in_a_bundle_is_told_its_own_error() {
    let mut bench = Bench::new();
    let (calls, mut answers) = bench.want(&["a", "b"]);
    let granted = replies(&bench.store, &calls[1]);
    let results = vec![(calls[0].id, Err(forbidden())), (calls[1].id, Ok(granted))];
    bench.driver.take_done(EndedCall::Bundle(results));
    let error = answers[0].try_recv().expect("answered").err().expect("refused");
    assert!(error.to_string().contains("no right to do that"), "{error}");
    assert!(answers[1].try_recv().expect("answered").is_ok());
}
