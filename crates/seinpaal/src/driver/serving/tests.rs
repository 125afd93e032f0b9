use std::{
    future::ready,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    task::Wake,
};

use futures_util::FutureExt;
use seinpaal_proto::{
    Inbox,
    session::{Session, SessionConfig},
    time::SECOND,
};
use tokio::sync::mpsc;

use super::{
    super::{
        DriverCommand, GrantInHand, QueueSessions, plain_request::plain_request, shared::visit,
        start::makings,
    },
    *,
};
use crate::{
    boottime::ClientClock,
    permit_state::{Lost, PermitState},
    store::{
        Store,
        clock::Clock,
        memory::{MemoryHub, MemoryStore},
    },
};

/// More than is done in one poll.
const MANY: usize = 10_000;

/// A driver, and the way to it.
fn idle() -> (Driver, mpsc::UnboundedSender<DriverCommand>) {
    let (config, clock) = (SessionConfig::default(), ClientClock::Machine);
    let (makings, ends) = makings(config.clone(), clock, "memory:".into()).expect("made");
    let inbox = Inbox(1);
    let store = MemoryStore::open(&MemoryHub::new(Clock::System), inbox, ends.news);
    let queues =
        QueueSessions::new(inbox, config.clone(), store.first_reading(), clock, "memory:".into());
    (Driver::new(Session::new(inbox, config), queues, store, makings), ends.commands)
}

/// A driver that has many tasks with the store, each of which is done at once.
fn busy() -> (Driver, mpsc::UnboundedSender<DriverCommand>) {
    let (driver, commands) = idle();
    for _ in 0..MANY {
        driver.store_tasks.push(Box::pin(ready(())));
    }
    (driver, commands)
}

/// A driver at work whose program has been granted a permit.
async fn holding() -> (Serving, Arc<GrantInHand>, mpsc::UnboundedSender<DriverCommand>) {
    let (driver, commands) = idle();
    let mut serving = Serving::new(Arc::new(Room::new()), driver);
    let (request, mut answer) = plain_request("n", 1);
    assert!(commands.send(DriverCommand::Acquire(request)).is_ok());
    let grant = poll_fn(|context| {
        let _ = serving.poll(context);
        answer.poll_unpin(context)
    });
    let grant = grant.await.expect("the driver answers").expect("granted");
    (serving, grant, commands)
}

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_command_is_taken_while_there_are_answers_without_end() {
    let (mut driver, commands) = busy();
    let taken = Arc::new(AtomicU32::new(0));
    let note = Arc::clone(&taken);
    let task = Box::new(move |_| {
        note.fetch_add(1, Relaxed);
        Box::pin(ready(())) as _
    });
    assert!(commands.send(DriverCommand::StoreTask(task)).is_ok());
    let waker = Arc::new(Wakes::default()).into();
    let round = driver.poll_round(&mut Context::from_waker(&waker));
    assert!(matches!(round, DriverInput::Done));
    assert_eq!(taken.load(Relaxed), 1);
}

#[test]
fn a_driver_with_work_without_end_lets_its_runtime_have_a_turn() {
    let (driver, _commands) = busy();
    let room = Arc::new(Room::new());
    let mut serving = Serving::new(Arc::clone(&room), driver);
    let wakes = Arc::new(Wakes::default());
    let waker = Arc::clone(&wakes).into();
    assert!(serving.poll(&mut Context::from_waker(&waker)).is_pending());
    let left = room.try_enter().expect("nobody is inside").driver.store_tasks.len();
    assert_eq!(left, MANY - MOST_ROUNDS as usize);
    assert!(wakes.0.load(Relaxed) > 0, "it comes back by itself");
}

#[tokio::test]
async fn a_driver_of_a_holder_looks_at_its_clock_within_a_second() {
    let (mut serving, _grant, _commands) = holding().await;
    let waker = Arc::new(Wakes::default()).into();
    assert!(serving.poll(&mut Context::from_waker(&waker)).is_pending());
    let until = serving.sleep.as_ref().expect("its lease is to be renewed").0;
    assert!(until <= ClientClock::Machine.now() + SECOND);
}

/// Gives the task a timer that rings after more than a second, and before a new permit is renewed.
fn sleep_five_seconds(serving: &mut Serving) {
    let until = ClientClock::Machine.now() + 5 * SECOND;
    serving.sleep = Some((until, Box::pin(tokio::time::sleep(Duration::from_secs(5)))));
}

#[tokio::test]
async fn a_timer_that_was_set_before_the_grant_delays_no_look_of_a_holder() {
    let (mut serving, _grant, _commands) = holding().await;
    sleep_five_seconds(&mut serving);
    let waker = Arc::new(Wakes::default()).into();
    assert!(serving.poll(&mut Context::from_waker(&waker)).is_pending());
    let until = serving.sleep.as_ref().expect("its lease is to be renewed").0;
    assert!(until <= ClientClock::Machine.now() + SECOND);
}

#[tokio::test]
async fn a_grant_in_place_wakes_a_task_that_would_look_after_more_than_a_second() {
    let (driver, _commands) = idle();
    let mut serving = Serving::new(Arc::new(Room::new()), driver);
    let wakes = Arc::new(Wakes::default());
    let waker = Arc::clone(&wakes).into();
    let mut context = Context::from_waker(&waker);
    assert!(serving.poll(&mut context).is_pending());
    sleep_five_seconds(&mut serving);
    assert!(serving.poll(&mut context).is_pending());
    let (request, mut answer) = plain_request("n", 1);
    let woken = wakes.0.load(Relaxed);
    assert!(visit(&serving.room, DriverCommand::Acquire(request)).is_none(), "made in place");
    let grant = (&mut answer).now_or_never().expect("answered in place");
    assert_eq!(grant.expect("the driver lives").expect("granted").noted(), PermitState::Held);
    assert_eq!(wakes.0.load(Relaxed), woken + 1);
}

#[tokio::test]
async fn a_holder_whose_driver_ends_with_its_runtime_has_lost_its_permit() {
    let (serving, grant, _commands) = holding().await;
    assert_eq!(grant.noted(), PermitState::Held);
    drop(serving);
    assert_eq!(grant.noted(), PermitState::Lost(Lost::Closed));
}

#[test]
fn a_callback_that_panics_leaves_the_driver_in_order() {
    let (mut driver, _commands) = idle();
    driver.callbacks.push(Box::new(|| panic!("a callback of the program")));
    let waker = Arc::new(Wakes::default()).into();
    assert!(matches!(driver.poll_round(&mut Context::from_waker(&waker)), DriverInput::Nothing));
}
