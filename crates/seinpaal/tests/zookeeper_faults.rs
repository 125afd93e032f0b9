//! The ZooKeeper store when connections, sessions and servers are lost.

#[path = "support/zookeeper.rs"]
mod support;

use std::time::{Duration, Instant};

use seinpaal::{
    PermitState, Seinpaal,
    store::{Certainty, News, Store, StoreErrorKind},
};
use seinpaal_proto::{Cause, Inbox, Reply, Request, What};
use seinpaal_rig::{Direction, Mode, Proxy, ZookeeperEnsemble};
use support::{Client, acquire, granted, plain, release, ticket};

/// How long a test waits for an event that must come. No verdict depends on its length.
const BOUND: Duration = Duration::from_secs(60);

struct Scene {
    relay: Proxy,
    direct: String,
    relayed: String,
}

/// A server, and a way to it that can be cut.
fn scene(chroot: &str, session: &str) -> Scene {
    let server = ZookeeperEnsemble::shared();
    let relay = Proxy::start(server.ports()[0]).unwrap();
    let direct = format!("{}/faults/{chroot}?session={session}", server.url());
    let relayed =
        format!("zookeeper://127.0.0.1:{}/faults/{chroot}?session={session}", relay.port());
    Scene { relay, direct, relayed }
}

fn has_session(inbox: Inbox) -> bool {
    ZookeeperEnsemble::shared().sessions().contains(&inbox.to_string())
}

async fn until(condition: impl AsyncFn() -> bool) {
    let met = async {
        while !condition().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(BOUND, met).await.expect("it comes to that");
}

/// Skips all other news.
async fn told_of(client: &mut Client, number: u128) -> What {
    loop {
        match client.told().await {
            News::Wakeup(wakeup) if wakeup.ticket == ticket(number) => return wakeup.what,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_expired_is_a_loss_even_if_nobody_else_noticed() {
    let Scene { relay, relayed, .. } = scene("expired", "1s");
    let mut client = Client::connect(&relayed, 0xe1).await;
    granted(client.ask("n", acquire(1)).await.unwrap());
    relay.set(Mode::Refuse);
    until(async || !has_session(Inbox(0xe1))).await;
    relay.set(Mode::Pass);
    assert_eq!(told_of(&mut client, 1).await, What::Ended(Cause::Expired));
    let ended = Reply::Ended { ticket: ticket(1), cause: Cause::Expired };
    assert_eq!(client.ask("n", release(1)).await.unwrap(), ended);
    granted(client.ask("n", acquire(2)).await.unwrap());
    assert!(has_session(Inbox(0xe1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_name_keeps_nobody_out_of_other_names_after_the_session_has_expired() {
    let Scene { relay, relayed, .. } = scene("damaged", "1s");
    let client = Client::connect(&relayed, 0xd1).await;
    support::put("/faults/damaged/names/bad", b"not ours").await;
    let error = client.ask("bad", acquire(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    granted(client.ask("torn", acquire(3)).await.unwrap());
    support::delete_children("/faults/damaged/names/torn").await;
    relay.set(Mode::Refuse);
    until(async || !has_session(Inbox(0xd1))).await;
    relay.set(Mode::Pass);
    // A call fails until there is another session.
    until(async || matches!(client.ask("n", acquire(2)).await, Ok(Reply::Granted(_)))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_held_whose_session_expired_goes_to_the_first_waiter() {
    let Scene { relay, relayed, direct } = scene("freed", "1s");
    let holder = Client::connect(&relayed, 0xf1).await;
    let mut waiter = Client::connect(&direct, 0xf2).await;
    granted(holder.ask("n", acquire(1)).await.unwrap());
    assert!(matches!(waiter.ask("n", acquire(2)).await.unwrap(), Reply::Queued { .. }));
    relay.set(Mode::Refuse);
    assert!(matches!(told_of(&mut waiter, 2).await, What::Granted { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn if_the_first_waiter_dies_before_the_holder_the_second_is_served() {
    let Scene { relay, relayed, direct } = scene("chain", "1s");
    let holder = Client::connect(&relayed, 0xc1).await;
    let first = Client::connect(&direct, 0xc2).await;
    let mut second = Client::connect(&direct, 0xc3).await;
    granted(holder.ask("n", acquire(1)).await.unwrap());
    first.ask("n", acquire(2)).await.unwrap();
    second.ask("n", acquire(3)).await.unwrap();
    drop(first);
    until(async || !has_session(Inbox(0xc2))).await;
    relay.set(Mode::Refuse);
    assert!(matches!(told_of(&mut second, 3).await, What::Granted { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_lost_is_danger_and_then_loss_before_anybody_else_gets_in() {
    let Scene { relay, relayed, direct } = scene("danger", "2s");
    let (cut_off, other) = (Seinpaal::connect(&relayed).await.unwrap(), Seinpaal::connect(&direct));
    let other = other.await.unwrap();
    let permit = cut_off.semaphore("n").acquire().await.unwrap();
    let fence = permit.fence();
    let waiting = tokio::spawn(async move {
        let permit = other.semaphore("n").acquire().await.unwrap();
        (Instant::now(), permit.fence())
    });
    let watcher = Seinpaal::connect(&direct).await.unwrap().semaphore("n");
    until(async || watcher.snapshot().await.unwrap().waiting_total == 1).await;
    relay.set(Mode::Refuse);
    permit.danger().await;
    assert_eq!(permit.state(), PermitState::Danger);
    permit.lost().await;
    let lost = Instant::now();
    let (had, next) = waiting.await.unwrap();
    assert!(lost < had && fence < next, "lost {:?} after the next one had it", lost - had);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_comes_back_in_time_keeps_the_permit_and_hears_what_it_missed() {
    let Scene { relay, relayed, direct } = scene("back", "20s");
    let mut client = Client::connect(&relayed, 0xb1).await;
    let holder = Client::connect(&direct, 0xb2).await;
    granted(client.ask("mine", acquire(1)).await.unwrap());
    granted(holder.ask("n", acquire(2)).await.unwrap());
    client.ask("n", acquire(3)).await.unwrap();
    relay.set(Mode::Refuse);
    holder.ask("n", release(2)).await.unwrap();
    relay.set(Mode::Pass);
    assert!(matches!(told_of(&mut client, 3).await, What::Granted { .. }));
    let left = Reply::Released { ticket: ticket(1), left: 0 };
    assert_eq!(client.ask("mine", release(1)).await.unwrap(), left);
}

/// Returns whether one of these requests is a transaction. Each request is a length, a number, and
/// the kind of request.
fn has_transaction(mut bytes: &[u8]) -> bool {
    const TRANSACTION: [u8; 4] = 14_i32.to_be_bytes();
    while let Some((head, _)) = bytes.split_at_checked(12) {
        if head[8..] == TRANSACTION {
            return true;
        }
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        bytes = bytes.get(4 + length..).unwrap_or_default();
    }
    false
}

async fn held(witness: &Client) -> u32 {
    match witness.ask("n", Request::Inspect { rows: 0 }).await.unwrap() {
        Reply::Snapshot(seen) => seen.held,
        other => panic!("no snapshot: {other:?}"),
    }
}

/// The server executes the request, and the connection is lost before the answer arrives.
///
/// A plain read sees that the server has executed it. An inspection would be a write, because it
/// moves the clock of the name. The server would refuse a request that such a write overtakes, and
/// the test would wait for an answer that never comes.
async fn lose_the_answer(scene: &Scene, client: &Client, path: &str, request: Request) {
    let plain = plain().await;
    let written = async || plain.check_stat(path).await.unwrap().map(|stat| stat.mzxid);
    let (batch, before) = (client.batch("n", vec![request]), written().await);
    scene.relay.set_after(has_transaction, Mode::Swallow(Direction::Answer));
    let losing = async {
        until(async || written().await != before).await;
        // The first cut comes before answers pass again, because the relay may not have read this
        // answer yet. The second cut is for a connection that was made in between and never gets
        // answers.
        scene.relay.cut();
        scene.relay.set(Mode::Pass);
        scene.relay.cut();
    };
    let (asked, ()) = tokio::join!(client.store.call(&batch), losing);
    assert_eq!(asked.unwrap_err().certainty(), Certainty::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acquire_and_a_release_whose_answers_were_lost_are_done_once() {
    let (scene, path) = (scene("reply", "20s"), "/faults/reply/names/n");
    let client = Client::connect(&scene.relayed, 0xa1).await;
    let witness = Client::connect(&scene.direct, 0xa2).await;
    lose_the_answer(&scene, &client, path, acquire(1)).await;
    let again = granted(client.ask("n", acquire(1)).await.unwrap());
    let once_more = granted(client.ask("n", acquire(1)).await.unwrap());
    assert_eq!((again.fence, held(&witness).await), (once_more.fence, 1));
    lose_the_answer(&scene, &client, path, release(1)).await;
    let ended = Reply::Ended { ticket: ticket(1), cause: Cause::Released };
    assert_eq!(client.ask("n", release(1)).await.unwrap(), ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ensemble_without_a_quorum_is_unreachable_and_then_goes_on_with_what_it_knew() {
    let mut ensemble = ZookeeperEnsemble::start(3);
    let url = format!("{}/q?session=20s", ensemble.url());
    let client = Client::connect(&url, 1).await;
    let fence = granted(client.ask("n", acquire(1)).await.unwrap()).fence;
    let leader = ensemble.leader().expect("somebody leads");
    ensemble.kill(leader);
    let again = loop {
        match client.ask("n", acquire(1)).await {
            Ok(reply) => break granted(reply),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}"),
        }
    };
    assert_eq!(again.fence, fence);
    let second = ensemble.leader().expect("another one leads");
    ensemble.kill(second);
    let error = client.ask("n", acquire(2)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    ensemble.revive(leader);
    ensemble.revive(second);
    let again = loop {
        match client.ask("n", acquire(1)).await {
            Ok(reply) => break granted(reply),
            Err(error) => assert!(error.certainty() == Certainty::Unknown || error.is_passing()),
        }
    };
    assert_eq!(again.fence, fence);
}
