//! A child that goes on after a fork is refused, and its parent keeps what it holds.

use std::{
    io,
    os::unix::process::CommandExt,
    process::Command,
    sync::{Arc, Mutex},
};

use seinpaal::{
    FinishError, Item, Permit, ReleaseError,
    blocking::{Seinpaal, Semaphore, Wait, wait},
};

use seinpaal_rig::RedisServer;

/// Looks at something in a forked child, and whether all was well.
fn is_well_in_a_child(look: impl Fn() -> bool + Send + Sync + 'static) -> bool {
    let mut command = Command::new("true");
    let look = move || if look() { Ok(()) } else { Err(io::Error::from_raw_os_error(1)) };
    // SAFETY: the child has no other thread, and the locks that it takes are the allocator's, which
    // glibc makes usable in a child, and those of values that no other thread touches. That the
    // connection takes none is what is tested.
    unsafe { command.pre_exec(look) };
    command.status().is_ok_and(|status| status.success())
}

fn is_refused(semaphore: &Semaphore, permit: Option<Permit>) -> bool {
    let acquired = semaphore.acquire().is_err_and(|why| why.to_string().contains("forked from"));
    let looked = semaphore.snapshot().is_err_and(|why| why.to_string().contains("forked from"));
    let parent = std::os::unix::process::parent_id();
    let forked = Err(ReleaseError::Forked { process: parent });
    let released = permit.map(|permit| permit.release().wait());
    acquired && looked && released == Some(forked)
}

/// The ends of an item, and the end of the connection.
fn is_refused_its_ends(seinpaal: &Seinpaal, item: Option<Item>) -> bool {
    let process = std::os::unix::process::parent_id();
    let acknowledged = item.map(|item| wait(item.acknowledge()));
    let closed = seinpaal.close();
    acknowledged == Some(Err(FinishError::Forked { process }))
        && closed == Err(ReleaseError::Forked { process })
}

fn refuses_a_child(url: &str) {
    let seinpaal = Seinpaal::connect(url).expect("connected");
    let semaphore = seinpaal.semaphore("a").limit(2);
    let held = Arc::new(Mutex::new(Some(semaphore.acquire().expect("granted"))));
    let (childs, childs_semaphore) = (Arc::clone(&held), semaphore.clone());
    let take = move || childs.lock().map(|mut held| held.take()).ok().flatten();
    assert!(is_well_in_a_child(move || is_refused(&childs_semaphore, take())), "{url}");
    let permit = held.lock().expect("nobody panicked").take().expect("the child took its copy");
    assert!(permit.is_held(), "{url}");
    assert_eq!(semaphore.snapshot().expect("answered").permits_held, 1, "{url}");
    permit.release().wait().expect("it was held all the time");
}

#[test]
fn a_forked_child_can_end_neither_an_item_nor_the_connection() {
    let server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.socket_url("")).expect("connected");
    let queue = seinpaal.queue("q");
    queue.push("x").expect("pushed");
    let held = Arc::new(Mutex::new(Some(queue.pop().expect("popped"))));
    let (childs, childs_seinpaal) = (Arc::clone(&held), seinpaal.clone());
    let take = move || childs.lock().map(|mut held| held.take()).ok().flatten();
    assert!(is_well_in_a_child(move || is_refused_its_ends(&childs_seinpaal, take())));
    let item = held.lock().expect("nobody panicked").take().expect("the child took its copy");
    assert_eq!(wait(item.acknowledge()), Ok(()));
    seinpaal.close().expect("everything went back");
}

#[test]
fn a_forked_child_is_refused_and_gives_back_nothing_of_its_parents() {
    let server = RedisServer::start();
    refuses_a_child(&server.socket_url(""));
}

#[cfg(feature = "embedded")]
#[test]
fn a_forked_child_is_refused_by_the_embedded_store_too() {
    let directory = tempfile::tempdir().expect("a directory");
    refuses_a_child(&format!("file://{}", directory.path().display()));
}
