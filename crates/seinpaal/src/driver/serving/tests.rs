use std::{
    future::ready,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    task::Wake,
};

use seinpaal_proto::{
    Inbox, Name, queue,
    session::{Session, SessionConfig},
    time::SECOND,
};
use tokio::sync::{mpsc, oneshot};

use super::{
    super::{DriverCommand, QueueCommand, QueueSessions, start::makings},
    *,
};
use crate::{
    boottime::ClientClock,
    store::{
        Store,
        clock::Clock,
        memory::{MemoryHub, MemoryStore},
    },
};

/// More than is done in one poll.
const MANY: usize = 10_000;

/// A driver, and the way to it. It has many store_tasks, each of which is done at once.
fn busy() -> (Driver, mpsc::UnboundedSender<DriverCommand>) {
    let (driver, commands) = idle(ClientClock::Machine);
    for _ in 0..MANY {
        driver.store_tasks.push(Box::pin(ready(())));
    }
    (driver, commands)
}

/// A driver with nothing to do, and the way to it.
fn idle(clock: ClientClock) -> (Driver, mpsc::UnboundedSender<DriverCommand>) {
    let (makings, ends) = makings(SessionConfig::default(), clock, "memory:".into()).expect("made");
    let inbox = Inbox(1);
    let store = MemoryStore::open(&MemoryHub::new(Clock::System), inbox, ends.news);
    let config = SessionConfig::default();
    let queues =
        QueueSessions::new(inbox, config.clone(), store.first_reading(), clock, "memory:".into());
    (Driver::new(Session::new(inbox, config), queues, store, makings), ends.commands)
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
    let round = driver.poll_round(&mut Context::from_waker(&waker), false);
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

/// Time stands still.
#[tokio::test(start_paused = true)]
async fn what_one_of_a_crowd_asks_is_taken_when_the_others_have_asked() {
    let clock = ClientClock::Tokio(tokio::time::Instant::now());
    let (mut driver, commands) = idle(clock);
    driver.crowd.told(2);
    driver.crowd.answered(clock.now(), || Some(SECOND));
    let ask = || commands.send(DriverCommand::StoreTask(Box::new(|_| Box::pin(ready(()))))).is_ok();
    let waker = Arc::new(Wakes::default()).into();
    let mut context = Context::from_waker(&waker);
    assert!(ask());
    let awaits = driver.awaits_crowd();
    assert!(matches!(driver.poll_round(&mut context, awaits), DriverInput::Coming));
    assert_eq!(driver.store_tasks.len(), 0);
    assert!(ask());
    let awaits = driver.awaits_crowd();
    assert!(matches!(driver.poll_round(&mut context, awaits), DriverInput::Done));
    assert_eq!(driver.store_tasks.len(), 2);
    assert!(!driver.crowd.is_expected());
}

/// Time stands still, so the wait ends because it was looked so often.
#[tokio::test(start_paused = true)]
async fn what_is_due_when_a_crowd_is_no_longer_waited_for_is_sent_before_the_driver_sleeps() {
    let clock = ClientClock::Tokio(tokio::time::Instant::now());
    let (mut driver, _commands) = idle(clock);
    let name = Name::new("n").expect("a name");
    let (reply, mut answer) = oneshot::channel();
    let ask = QueueCommand::Ask(vec![(queue::Request::Inspect { rows: 1 }, reply)]);
    driver.queues.take_command(clock.now(), name, ask);
    driver.crowd.told(2);
    driver.crowd.answered(clock.now(), || Some(SECOND));
    let mut serving = Serving::new(Arc::new(Room::new()), driver);
    let wakes = Arc::new(Wakes::default());
    let waker = Arc::clone(&wakes).into();
    let mut is_awake = true;
    while is_awake {
        let before = wakes.0.load(Relaxed);
        assert!(serving.poll(&mut Context::from_waker(&waker)).is_pending());
        is_awake = wakes.0.load(Relaxed) > before;
    }
    assert!(answer.try_recv().is_ok());
}
