//! A dead or silent waiter at the head of the line.

use std::time::{Duration, Instant};

use seinpaal::{Permit, Seinpaal, Semaphore};
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    child::Waiter,
    server::Server,
    table::{Table, quantile, text},
};

const ROUNDS: usize = 15;

/// A holder, and a waiter behind the one at the head.
struct Scene {
    holder: Semaphore,
    next: Semaphore,
    url: String,
    name: &'static str,
}

pub(crate) async fn dead(server: &Server, table: &mut Table) {
    let scene = Scene::new(server, "dead head").await;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(scene.hand_off(None::<fn(Waiter)>).await);
        with.push(scene.hand_off(Some(Waiter::kill as fn(Waiter))).await);
    }
    let (without, with) = (quantile(&mut without, 0.5), quantile(&mut with, 0.5));
    let figure = format!("{} (without it {})", text(with), text(without));
    let what = "a waiter killed at the head: release to next grant";
    table.figure(what, &figure, "Redisson's fair lock: minutes");
}

pub(crate) async fn silent(server: &Server, is_quick: bool, table: &mut Table) {
    let what = "a waiter stopped at the head, connection open: release to next grant";
    if is_quick {
        return table.figure(what, "left out: --quick", "");
    }
    let scene = Scene::new(server, "silent head").await;
    let mut stopped = None;
    let time = scene
        .hand_off(Some(|waiter: Waiter| {
            waiter.stop();
            stopped = Some(waiter);
        }))
        .await;
    stopped.into_iter().for_each(Waiter::kill);
    // The server can reach the waiter as far as it can tell. So the waiter is granted the permit,
    // and holds it until its place would have ended.
    let figure =
        format!("{} (its waiter lease of 15 s: it was granted, and was silent)", text(time));
    table.figure(what, &figure, "Redisson's fair lock: minutes");
}

impl Scene {
    async fn new(server: &Server, name: &'static str) -> Self {
        let url = server.url();
        let holder = Seinpaal::connect(&url).await.expect("the store is there");
        let next = Seinpaal::connect(&url).await.expect("the store is there");
        let (holder, next) = (holder.semaphore(name).limit(1), next.semaphore(name).limit(1));
        Self { holder, next, url, name }
    }

    /// Holds, lets a process stand at the head, does something to that process, and has another
    /// waiter stand behind it. Returns the time from the release until that waiter has the permit.
    async fn hand_off(&self, done_to_head: Option<impl FnOnce(Waiter)>) -> Duration {
        let permit = self.holder.acquire().await.expect("a permit");
        let mut head = done_to_head.as_ref().map(|_| Waiter::start(&self.url, self.name));
        if let Some(head) = &mut head {
            head.until_queued();
        }
        let next = self.stand_in_line().await;
        if let (Some(done), Some(head)) = (done_to_head, head) {
            done(head);
        }
        let start = Instant::now();
        permit.release().await.expect("it was held");
        let (permit, at) = next.await.expect("it runs");
        permit.release().await.expect("it was held");
        at - start
    }

    async fn stand_in_line(&self) -> JoinHandle<(Permit, Instant)> {
        let (queued, is_queued) = oneshot::channel();
        let acquire = self.next.acquire().on_queued(|_| queued.send(()).unwrap_or_default());
        let next = tokio::spawn(async move {
            let permit = acquire.await.expect("a permit");
            (permit, Instant::now())
        });
        is_queued.await.expect("it queues");
        next
    }
}
