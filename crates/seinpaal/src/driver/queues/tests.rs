use futures_util::FutureExt;
use seinpaal_proto::{
    Priority,
    queue::{Due, Push, Request},
    time::SECOND,
};
use tokio::sync::{mpsc, oneshot};

use super::*;
use crate::{
    driver::Handed,
    store::{
        Store,
        clock::Clock,
        memory::{MemoryHub, MemoryStore},
    },
};

const NOW: Micros = 1_000 * SECOND;

/// The queues of one client, a store that answers each call at once, and how many calls it has
/// answered.
struct Site {
    queues: QueueSessions,
    store: Arc<MemoryStore>,
    calls: u32,
}

impl Site {
    fn new() -> Self {
        let hub = MemoryHub::new(Clock::Manual(Arc::new(NOW.into())));
        let store = MemoryStore::open(&hub, Inbox(1), mpsc::unbounded_channel().0);
        let reading = store.first_reading();
        let clock = ClientClock::Machine;
        let queues = QueueSessions::new(
            Inbox(1),
            SessionConfig::default(),
            reading,
            clock,
            "memory:".into(),
        );
        Self { queues, store, calls: 0 }
    }

    fn command(&mut self, command: QueueCommand) {
        self.queues.take_command(NOW, name(), command);
    }

    /// Makes the calls that are due until there is none, or `most` have been made.
    fn run(&mut self, most: u32) {
        while self.calls < most {
            let due = self.queues.step(NOW);
            if due.is_empty() {
                return;
            }
            for (name, call) in due {
                let answer = self.store.call_queue(&call.batch).now_or_never();
                let result = answer.expect("a store in memory answers at once");
                self.calls += 1;
                self.queues.take_done(NOW, &name, call.id, result);
            }
        }
    }
}

fn name() -> Name {
    Name::new("q").expect("a good name")
}

fn push() -> QueueCommand {
    let push = Push {
        payload: b"x".to_vec(),
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 1000,
        about: String::new(),
    };
    QueueCommand::OneOffs(vec![(Request::Push(push), oneshot::channel().0)])
}

fn want(until: Until) -> (QueueCommand, mpsc::UnboundedReceiver<Handed>) {
    let (to, from) = mpsc::unbounded_channel();
    let about = String::new();
    let wanted = WantedItems { number: 1, items: 2, ttl: None, until, drains: false, about, to };
    (QueueCommand::Pop(wanted), from)
}

#[test]
fn a_worker_that_has_gone_takes_no_item_again() {
    let mut site = Site::new();
    site.command(push());
    let (pop, from) = want(Until::Unpopped);
    site.command(pop);
    drop(from);
    site.run(100);
    assert!(site.calls < 10, "{} calls for one item", site.calls);
}
