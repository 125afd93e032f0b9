//! A child that goes on after a fork is refused, and its parent keeps what it holds.

#[cfg(feature = "embedded")]
use std::{
    fs,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    path::Path,
};
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

/// Runs a check in a forked child, and returns whether it succeeded.
fn is_well_in_a_child(look: impl Fn() -> bool + Send + Sync + 'static) -> bool {
    let mut command = Command::new("true");
    let look = move || if look() { Ok(()) } else { Err(io::Error::from_raw_os_error(1)) };
    // SAFETY: the child has no other thread, and the locks that it takes are the allocator's, which
    // glibc makes usable in a child, and those of values that no other thread touches. The test
    // checks that the connection takes none.
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
fn a_forked_child_drops_a_pop_of_its_parents_at_once() {
    let server = RedisServer::start();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let connection = runtime.block_on(seinpaal::Seinpaal::connect(&server.socket_url("")));
    let queue = connection.expect("connected").queue("q");
    let mut waits = Box::pin(queue.pop().into_future());
    assert!(runtime.block_on(async { futures_util::poll!(&mut waits) }).is_pending());
    let waits = Arc::new(Mutex::new(Some(waits)));
    let childs = Arc::clone(&waits);
    let drops = move || childs.lock().is_ok_and(|mut waits| waits.take().is_some());
    assert!(is_well_in_a_child(drops));
    let waits = waits.lock().expect("nobody panicked").take().expect("the child took its copy");
    runtime.block_on(queue.push("x").into_future()).expect("pushed");
    let item = runtime.block_on(waits).expect("the parent's pop goes on");
    assert_eq!(item.payload(), b"x");
    runtime.block_on(item.acknowledge()).expect("in work");
}

#[test]
fn a_forked_child_is_refused_and_gives_back_nothing_of_its_parents() {
    let server = RedisServer::start();
    refuses_a_child(&server.socket_url(""));
}

/// How many locks of the store in this directory this process has open: the gate, and the file that
/// shows that a client is alive.
#[cfg(feature = "embedded")]
fn open_locks(directory: &Path) -> usize {
    let open = fs::read_dir("/proc/self/fd").expect("listed").flatten();
    let files = open.flat_map(|file| fs::read_link(file.path()));
    let (gate, presence) = (directory.join("gate"), directory.join("presence"));
    files.filter(|file| *file == gate || file.parent() == Some(&presence)).count()
}

#[cfg(feature = "embedded")]
#[test]
fn a_forked_child_that_closes_what_it_is_told_has_no_lock_of_its_parent_open() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().canonicalize().expect("there");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let url = format!("file://{}", path.display());
    let connection = runtime.block_on(seinpaal::Seinpaal::connect(&url)).expect("connected");
    let fds = connection.fork_fds().expect("the store has some").map(|fd| fd.as_raw_fd());
    let childs = path.clone();
    let closes = move || {
        let before = open_locks(&childs);
        // SAFETY: these are the child's own copies, and it does not use the connection.
        fds.iter().for_each(|fd| drop(unsafe { OwnedFd::from_raw_fd(*fd) }));
        (before, open_locks(&childs)) == (2, 0)
    };
    assert!(is_well_in_a_child(closes));
    assert_eq!(open_locks(&path), 2, "the parent keeps its own");
}

#[cfg(feature = "embedded")]
#[test]
fn a_forked_child_is_refused_by_the_embedded_store_too() {
    let directory = tempfile::tempdir().expect("a directory");
    refuses_a_child(&format!("file://{}", directory.path().display()));
}
