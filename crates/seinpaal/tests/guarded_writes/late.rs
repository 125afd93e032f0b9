//! Writers that come late: the lease has run out, the ticket belongs to another client, or the
//! group was applied already.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use seinpaal::{
    CommandGroup, Fence, GuardedError, Name, Value,
    store::{
        GuardedWrite, Store,
        redis::{EditLua, RedisStore, TestHooks},
        url::StoreUrl,
    },
};
use seinpaal_proto::{Batch, Inbox, Reply, Request, time::SECOND};
use seinpaal_rig::RedisServer;
use tokio::sync::mpsc;

use super::{
    get,
    requests::{self, acquisition},
};

/// Two clients under a clock of the test's own, of which the first holds and renews nothing.
struct Late {
    server: RedisServer,
    now: Arc<AtomicU64>,
    holder: Arc<RedisStore>,
    other: Arc<RedisStore>,
    fence: Fence,
}

const TTL: u64 = 10 * SECOND;

impl Late {
    async fn new() -> Self {
        Self::with(None).await
    }

    async fn with(mutation: Option<(&str, &str)>) -> Self {
        let edit = mutation.map(|(from, to)| {
            let (from, to) = (from.to_owned(), to.to_owned());
            Arc::new(move |source: &str| source.replacen(&from, &to, 1)) as EditLua
        });
        let server = RedisServer::start();
        let now = Arc::new(AtomicU64::new(1_795_000_000_000_000));
        let open = async |inbox| {
            let url = StoreUrl::parse(&server.socket_url("")).unwrap();
            let hooks = TestHooks {
                now: Some(Arc::clone(&now)),
                edit: edit.clone(),
                ..TestHooks::default()
            };
            let (news, _) = mpsc::unbounded_channel();
            RedisStore::open_with_hooks(url, Inbox(inbox), news, hooks).await.unwrap()
        };
        let (holder, other) = (open(1).await, open(2).await);
        let reply = ask(&holder, 1, vec![Request::Acquire(acquisition(1, TTL))]).await.unwrap();
        let Reply::Granted(grant) = reply else { panic!("{reply:?}") };
        Self { server, now, holder, other, fence: grant.fence }
    }

    fn pass(&self, time: u64) {
        self.now.fetch_add(time, Ordering::SeqCst);
    }

    async fn write(&self, id: u128, fence: Fence) -> Result<Vec<Value>, GuardedError> {
        let mut group = CommandGroup::default();
        group.incr("count");
        let name = Name::new("n").unwrap();
        let write = GuardedWrite { name, held: vec![(requests::ticket(1), fence)], id, group };
        self.holder.guarded(&write).unwrap().await
    }

    async fn count(&self) -> Option<String> {
        get(&self.server, "count").await
    }
}

async fn ask(store: &RedisStore, inbox: u128, requests: Vec<Request>) -> Option<Reply> {
    let (name, inbox) = (Name::new("n").unwrap(), Some(Inbox(inbox)));
    let batch = Batch { name, inbox, fence_seen: 0, requests };
    store.call(&batch).await.unwrap().replies.pop()
}

#[tokio::test]
async fn a_holder_whose_lease_has_run_out_writes_nothing_before_and_after_another_has_the_permit() {
    let late = Late::new().await;
    assert!(late.write(1, late.fence).await.is_ok());
    // The clock of a name advances by at most a margin with each call, and the margin here is a
    // quarter of the ttl. So a client has to look in between.
    for _ in 0..4 {
        late.pass(TTL / 4);
        ask(&late.other, 2, vec![Request::Inspect { rows: 0 }]).await;
    }
    let refused = late.write(2, late.fence).await;
    assert!(matches!(refused, Err(GuardedError::NotHeld)), "{refused:?}");
    let reply = ask(&late.other, 2, vec![Request::Acquire(acquisition(2, TTL))]).await;
    assert!(matches!(reply, Some(Reply::Granted(_))), "{reply:?}");
    let refused = late.write(3, late.fence).await;
    assert!(matches!(refused, Err(GuardedError::NotHeld)), "{refused:?}");
    assert_eq!(late.count().await.as_deref(), Some("1"));
}

#[tokio::test]
async fn nobody_need_look_for_a_lease_to_have_run_out() {
    let late = Late::new().await;
    for _ in 0..3 {
        late.pass(TTL / 4);
        ask(&late.other, 2, vec![Request::Inspect { rows: 0 }]).await;
    }
    late.pass(TTL / 4 - 1);
    assert!(late.write(2, late.fence).await.is_ok(), "a microsecond is left");
    late.pass(1);
    let refused = late.write(3, late.fence).await;
    assert!(matches!(refused, Err(GuardedError::NotHeld)), "{refused:?}");
}

#[tokio::test]
async fn another_fence_or_ticket_writes_nothing() {
    let late = Late::new().await;
    for fence in [late.fence.0 - 1, late.fence.0 + 1, 0] {
        let refused = late.write(fence.into(), Fence(fence)).await;
        assert!(matches!(refused, Err(GuardedError::NotHeld)), "{refused:?}");
    }
    assert_eq!(late.count().await, None);
}

#[tokio::test]
async fn a_group_that_arrives_twice_is_applied_once_and_answered_twice() {
    let late = Late::new().await;
    let first = late.write(7, late.fence).await.unwrap();
    assert_eq!(late.write(7, late.fence).await.unwrap(), first);
    late.write(8, late.fence).await.unwrap();
    assert_eq!(late.write(7, late.fence).await.unwrap(), first);
    ask(&late.holder, 1, vec![Request::Release { ticket: requests::ticket(1), slots: None }]).await;
    assert_eq!(late.write(7, late.fence).await.unwrap(), first, "also after the release");
    assert_eq!(late.count().await.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_step_of_the_servers_clock_is_not_the_end_of_writing() {
    let late = Late::new().await;
    late.pass(3600 * SECOND);
    assert!(late.write(1, late.fence).await.is_ok(), "the clock of the name knows no such steps");
    assert_eq!(late.count().await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_script_that_does_not_look_would_be_noticed() {
    let late = Late::with(Some(("if not are_all_held() then", "if false then"))).await;
    assert!(late.write(1, Fence(0)).await.is_ok(), "written with another fence");
    let late = Late::with(Some(("if before then", "if false then"))).await;
    for _ in 0..2 {
        late.write(1, late.fence).await.unwrap();
    }
    assert_eq!(late.count().await.as_deref(), Some("2"), "applied twice");
}
