use std::time::Duration;

use seinpaal_proto::{
    Acquire, Enqueue, Kind, Permits, Priority, Reply, Request, Ticket, time::UNBOUNDED,
};
use seinpaal_store::{Certainty, StoreErrorKind, memory::MemoryHub, memory::MemoryStore};
use tokio::time::{Instant, timeout};

use super::*;

const INBOX: Inbox = Inbox(7);
const HOUR: Duration = Duration::from_secs(3_600);

/// Opens a memory store behind a script. Returns the store, and the news that its client hears.
fn behind(faults: &Arc<Faults>) -> (Arc<Interposed>, mpsc::UnboundedReceiver<News>) {
    let between: Arc<dyn Between> = faults.clone();
    let (client, news) = mpsc::unbounded_channel();
    let hub = MemoryHub::new(seinpaal_store::clock::Clock::System);
    let inner = news_through(Arc::clone(&between), INBOX, client);
    (Interposed::new(MemoryStore::open(&hub, INBOX, inner), between), news)
}

fn acquire(ticket: u128, enqueue: Enqueue) -> Request {
    Request::Acquire(Acquire {
        ticket: Ticket(ticket),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: None,
        enqueue,
        priority: Priority::default(),
        ttl: 30_000_000,
        margin: UNBOUNDED,
        waiter_ttl: 30_000_000,
        not_after: None,
        about: String::new(),
    })
}

fn batch(request: Request) -> Batch {
    Batch {
        name: Name::new("n").unwrap(),
        inbox: Some(INBOX),
        fence_seen: 0,
        requests: vec![request],
    }
}

async fn held(store: &Interposed) -> u32 {
    let mut replies = store.call(&batch(Request::Inspect { rows: 9 })).await.unwrap().replies;
    match replies.pop() {
        Some(Reply::Snapshot(seen)) => seen.held,
        other => panic!("not a snapshot: {other:?}"),
    }
}

/// Sends one acquire into this fault. Returns the caller's answer, and how many permits are held
/// then.
async fn acquired_under(fault: Fault) -> (Option<Result<Replies, StoreError>>, u32) {
    let faults = Arc::new(Faults::default());
    let (store, _news) = behind(&faults);
    faults.next(SeamCall::Acquire, fault);
    let batch = batch(acquire(1, Enqueue::No));
    assert!(store.call_in_place(&batch).is_none(), "a fault is not done in place");
    let told = timeout(HOUR, store.call(&batch)).await.ok();
    assert_eq!((faults.left(), faults.happened()), (0, 1));
    (told, held(&store).await)
}

#[tokio::test(start_paused = true)]
async fn a_lost_request_is_not_executed_and_a_lost_answer_is_and_the_caller_cannot_tell() {
    for (fault, holders) in [(Fault::LoseRequest, 0), (Fault::LoseAnswer, 1)] {
        let (told, held) = acquired_under(fault).await;
        let error = told.expect("in time").expect_err("an error");
        assert_eq!(error.certainty(), Certainty::Unknown, "{fault}");
        assert_eq!(held, holders, "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_executes_nothing_and_says_so() {
    let (told, held) = acquired_under(Fault::Fail(StoreErrorKind::Full)).await;
    let error = told.expect("in time").expect_err("an error");
    assert_eq!((error.kind(), error.certainty()), (StoreErrorKind::Full, Certainty::NotExecuted));
    assert_eq!(held, 0);
}

#[tokio::test(start_paused = true)]
async fn silence_executes_the_request_and_answers_nothing_for_its_time() {
    let (told, held) = acquired_under(Fault::Silence(2 * HOUR)).await;
    assert!(told.is_none());
    assert_eq!(held, 1);
    let (told, held) = acquired_under(Fault::Silence(HOUR / 2)).await;
    assert!(told.is_some_and(|told| told.is_err()));
    assert_eq!(held, 1);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_late_or_repeated_is_answered() {
    for fault in [Fault::Delay(HOUR / 2), Fault::Repeat] {
        let began = Instant::now();
        let (told, held) = acquired_under(fault).await;
        assert!(matches!(told.unwrap().unwrap().replies[..], [Reply::Granted(_)]), "{fault}");
        assert_eq!((held, began.elapsed() >= HOUR / 2), (1, fault != Fault::Repeat), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fault_waits_for_its_operation_and_a_lasting_one_for_those_that_come_once() {
    let faults = Arc::new(Faults::default());
    let (store, _news) = behind(&faults);
    faults.every(SeamCall::Acquire, Fault::LoseRequest);
    faults.next(SeamCall::Acquire, Fault::Fail(StoreErrorKind::Full));
    faults.next(SeamCall::Release, Fault::LoseAnswer);
    let kind = async |request| store.call(&batch(request)).await.map_err(|error| error.kind());
    assert_eq!(kind(acquire(1, Enqueue::No)).await, Err(StoreErrorKind::Full));
    assert_eq!(kind(acquire(1, Enqueue::No)).await, Err(StoreErrorKind::Unreachable));
    assert_eq!(kind(acquire(1, Enqueue::No)).await, Err(StoreErrorKind::Unreachable));
    assert_eq!((faults.left(), faults.happened()), (1, 3));
    faults.clear();
    assert!(kind(acquire(1, Enqueue::No)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn news_are_lost_told_twice_or_late() {
    let faults = Arc::new(Faults::default());
    let (store, mut news) = behind(&faults);
    for (ticket, fault) in
        [(10, Fault::LoseAnswer), (20, Fault::Repeat), (30, Fault::Delay(HOUR / 2))]
    {
        faults.next(SeamCall::News, fault);
        store.call(&batch(acquire(ticket, Enqueue::No))).await.unwrap();
        let wait = Enqueue::Yes { max_waiting: None };
        store.call(&batch(acquire(ticket + 1, wait))).await.unwrap();
        for ticket in [ticket, ticket + 1] {
            let release = Request::Release { ticket: Ticket(ticket), slots: None };
            store.call(&batch(release)).await.unwrap();
        }
        let began = Instant::now();
        let mut heard = 0;
        while timeout(HOUR, news.recv()).await.is_ok() {
            heard += 1;
        }
        let expected = match fault {
            Fault::LoseAnswer => 0,
            Fault::Repeat => 2,
            _ => 1,
        };
        assert_eq!(heard, expected, "{fault}");
        assert!(began.elapsed() >= HOUR);
    }
    assert_eq!(faults.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn without_a_script_every_call_reaches_the_store() {
    let (store, _news) = behind(&Arc::new(Faults::default()));
    assert!(store.call_in_place(&batch(acquire(1, Enqueue::No))).is_some());
    assert_eq!(held(&store).await, 1);
    let step = store.one_step().expect("the memory store has one");
    let other = Batch { name: Name::new("m").unwrap(), ..batch(acquire(2, Enqueue::No)) };
    assert!(matches!(step.call_together(&[other]).await, Ok(Together::Granted(_))));
    assert_eq!(store.list("").await.unwrap().len(), 2);
    assert_eq!(store.list_queues("").await.unwrap(), []);
}
