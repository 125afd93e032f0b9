//! Tests of the whole client, from the API to the seam, in front of a store whose calls fail by a
//! script. Time is virtual, so each test takes milliseconds and no verdict depends on the machine.

use std::future::IntoFuture;

use seinpaal_rig::{Between, Fault, Faults, Interposed, SeamCall, news_through};
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::{AcquireError, Queue, Semaphore, store::StoreErrorKind};

const SECOND: Duration = Duration::from_secs(1);
/// Longer than any step here may take.
const LONG: Duration = Duration::from_secs(600);
/// The faults that only cost time if they happen once.
const FAULTS: [Fault; 6] = [
    Fault::LoseRequest,
    Fault::LoseAnswer,
    Fault::Delay(SECOND),
    Fault::Repeat,
    Fault::Fail(StoreErrorKind::Unreachable),
    Fault::Silence(SECOND),
];

/// Two clients of one store. Faults strike only the calls and the news of the first.
struct TwoClients {
    faults: Arc<Faults>,
    struck: Seinpaal,
    witness: Seinpaal,
}

impl TwoClients {
    fn new() -> Self {
        let clock = ClientClock::Tokio(Instant::now());
        let hub = MemoryHub::running_by(clock, Clock::System);
        let (faults, unharmed) = (Arc::new(Faults::default()), Arc::new(Faults::default()));
        let struck = connected(clock, &hub, &faults);
        let witness = connected(clock, &hub, &unharmed);
        Self { faults, struck, witness }
    }

    fn names(&self) -> (Semaphore, Semaphore) {
        (self.struck.semaphore("n").limit(1), self.witness.semaphore("n").limit(1))
    }

    fn queues(&self) -> (Queue, Queue) {
        (self.struck.queue("q"), self.witness.queue("q"))
    }

    /// Checks that every fault of the script has struck, because otherwise the test shows nothing.
    fn was_struck(&self, what: &str) {
        assert_eq!(self.faults.left(), 0, "{what}: the fault did not happen");
    }
}

fn connected(clock: ClientClock, hub: &Arc<MemoryHub>, faults: &Arc<Faults>) -> Seinpaal {
    let (hub, between): (_, Arc<dyn Between>) = (Arc::clone(hub), faults.clone());
    let open = move |inbox, news| {
        let news = news_through(Arc::clone(&between), inbox, news);
        Interposed::new(MemoryStore::open(&hub, inbox, news), between) as Arc<dyn Store>
    };
    let handle = driver::start_here(open, SessionConfig::default(), clock, "memory:".to_owned());
    let client = Arc::new(RequestMaker::own("a test".to_owned()));
    Seinpaal { handle: handle.expect("a driver"), client }
}

/// Waits, in virtual time, until there is no holder and no waiter.
async fn is_left_empty(name: &Semaphore, what: &str) {
    let looking = async {
        while name.snapshot().await.is_ok_and(|seen| seen.permits_held + seen.waiting_total > 0) {
            sleep(SECOND).await;
        }
    };
    timeout(LONG, looking).await.unwrap_or_else(|_| panic!("{what}: something was left behind"));
}

/// The struck client holds for a minute, in which its lease is renewed twice, while the other
/// waits.
async fn hold_and_hand_over(operation: SeamCall, fault: Fault) {
    let what = format!("{operation:?}: {fault}");
    let scene = TwoClients::new();
    let (mine, theirs) = scene.names();
    scene.faults.next(operation, fault);
    let permit = timeout(LONG, mine.acquire().into_future()).await.expect("in time");
    let permit = permit.unwrap_or_else(|error| panic!("{what}: {error}"));
    let waiting = tokio::spawn(theirs.acquire().timeout(LONG).into_future());
    sleep(60 * SECOND).await;
    assert!(permit.is_held() && !waiting.is_finished(), "{what}");
    let fence = permit.fence();
    permit.release().await.unwrap_or_else(|error| panic!("{what}: {error}"));
    let next = waiting.await.expect("no panic").unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(next.fence() > fence, "{what}");
    drop(next);
    is_left_empty(&theirs, &what).await;
    scene.was_struck(&what);
}

#[tokio::test(start_paused = true)]
async fn a_permit_is_had_kept_and_handed_over_whichever_call_goes_wrong_and_however() {
    for operation in [SeamCall::Acquire, SeamCall::Renew, SeamCall::Release] {
        for fault in FAULTS {
            hold_and_hand_over(operation, fault).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_gives_up_leaves_nothing_behind_whatever_becomes_of_its_cancel() {
    for fault in FAULTS {
        let what = format!("{fault}");
        let scene = TwoClients::new();
        let (mine, theirs) = scene.names();
        let permit = theirs.acquire().await.expect("a permit");
        scene.faults.next(SeamCall::Cancel, fault);
        let refused = mine.acquire().timeout(10 * SECOND).await;
        assert!(matches!(refused, Err(AcquireError::TimedOut)), "{what}: {refused:?}");
        sleep(10 * SECOND).await;
        let seen = theirs.snapshot().await.expect("a snapshot");
        assert_eq!((seen.permits_held, seen.waiting_total), (1, 0), "{what}");
        drop(permit);
        is_left_empty(&theirs, &what).await;
        scene.was_struck(&what);
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiter_gets_its_permit_though_its_wakeup_is_lost_late_or_told_twice() {
    for fault in [Fault::LoseAnswer, Fault::Delay(60 * SECOND), Fault::Repeat] {
        let scene = TwoClients::new();
        let (mine, theirs) = scene.names();
        let permit = theirs.acquire().await.expect("a permit");
        scene.faults.every(SeamCall::News, fault);
        let waiting = tokio::spawn(mine.acquire().timeout(LONG).into_future());
        sleep(SECOND).await;
        let freed = Instant::now();
        permit.release().await.expect("released");
        let next = waiting.await.expect("no panic").expect("a permit");
        assert!(next.is_held() && scene.faults.happened() > 0, "{fault}");
        // A waiter without its wakeup looks when its own place in line is renewed.
        assert!(freed.elapsed() < 15 * SECOND, "{fault}: {:?}", freed.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_hears_nothing_loses_its_permit_before_the_next_one_has_it() {
    let scene = TwoClients::new();
    let (mine, theirs) = scene.names();
    let permit = mine.acquire().await.expect("a permit");
    scene.faults.every(SeamCall::Any, Fault::LoseRequest);
    let waiting = tokio::spawn(theirs.acquire().timeout(LONG).into_future());
    permit.lost().await;
    assert!(
        !waiting.is_finished(),
        "the first permit was lost only after the second client had one"
    );
    let next = waiting.await.expect("no panic").expect("a permit");
    assert!(next.fence() > permit.fence() && !permit.is_held());
}

/// The struck client pushes an item, works on it for a minute and acknowledges it.
async fn push_and_work(operation: SeamCall, fault: Fault) {
    let what = format!("{operation:?}: {fault}");
    let scene = TwoClients::new();
    let (mine, theirs) = scene.queues();
    scene.faults.next(operation, fault);
    mine.push("work").await.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(theirs.snapshot().await.expect("a snapshot").ready, 1, "{what}");
    let item = timeout(LONG, mine.pop().into_future()).await.expect("in time");
    let item = item.unwrap_or_else(|error| panic!("{what}: {error}"));
    sleep(60 * SECOND).await;
    assert!(item.is_held(), "{what}");
    item.acknowledge().await.unwrap_or_else(|error| panic!("{what}: {error}"));
    let seen = theirs.snapshot().await.expect("a snapshot");
    assert_eq!([seen.ready, seen.delayed, seen.in_work, seen.dead], [0; 4], "{what}");
    scene.was_struck(&what);
}

#[tokio::test(start_paused = true)]
async fn an_item_is_worked_on_once_whichever_call_goes_wrong_and_however() {
    let operations = [SeamCall::Push, SeamCall::Pop, SeamCall::RenewDeliveries, SeamCall::Finish];
    for operation in operations {
        for fault in FAULTS {
            push_and_work(operation, fault).await;
        }
    }
}
