//! Checks which types can be sent and shared between threads, because that is part of the promise.

use std::future::IntoFuture;

use seinpaal::{
    Acquire, Attach, Item, Permit, Pop, PushAll, PushRequest, Queue, Seinpaal, Semaphore, Snapshot,
    TryAcquire, blocking,
};

fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn unpin<T: Unpin>() {}
fn is_static<T: 'static>() {}

#[test]
fn connections_semaphores_and_permits_are_sent_and_shared() {
    send::<Seinpaal>();
    sync::<Seinpaal>();
    send::<Semaphore>();
    sync::<Semaphore>();
    send::<Permit>();
    sync::<Permit>();
    is_static::<Permit>();
    send::<Snapshot>();
    sync::<Snapshot>();
    send::<Queue>();
    sync::<Queue>();
    send::<Item>();
    sync::<Item>();
    is_static::<Item>();
    send::<blocking::Semaphore>();
    sync::<blocking::Semaphore>();
}

#[test]
fn requests_are_sent_and_can_be_polled_anywhere() {
    send::<Acquire>();
    send::<<Acquire as IntoFuture>::IntoFuture>();
    unpin::<<Acquire as IntoFuture>::IntoFuture>();
    send::<<TryAcquire as IntoFuture>::IntoFuture>();
    send::<<Attach as IntoFuture>::IntoFuture>();
    send::<<Pop as IntoFuture>::IntoFuture>();
    send::<<PushRequest as IntoFuture>::IntoFuture>();
    send::<<PushAll as IntoFuture>::IntoFuture>();
}

#[test]
fn what_waits_on_a_permit_can_be_spawned() {
    fn spawnable<F: Future + Send>(_: impl Fn(&'static Permit) -> F) {}
    spawnable(Permit::lost);
    spawnable(Permit::danger);
    spawnable(Permit::changed);
    spawnable(|permit| permit.while_held(std::future::ready(())));
}

#[test]
fn requests_and_work_under_a_permit_are_futures_that_can_be_spawned() {
    fn spawnable<F: Future + Send + 'static>(_: impl Fn(Semaphore) -> F) {}
    spawnable(|semaphore| semaphore.acquire());
    spawnable(|semaphore| semaphore.try_acquire());
    spawnable(|semaphore| async move { semaphore.run(async |permit| permit.slot()).await });
}

#[test]
fn a_worker_whose_handlers_can_be_spawned_can_be_spawned() {
    fn spawnable<F: Future + Send>(_: impl Fn(Queue) -> F) {}
    spawnable(|queue| {
        let handler = |item: Item| async move { item.acknowledge().await };
        queue.worker(1, handler).run()
    });
}
