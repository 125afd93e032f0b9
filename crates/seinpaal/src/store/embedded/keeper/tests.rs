use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use seinpaal_proto::{Inbox, Name, queue::Configure};
use tokio::sync::oneshot::{self, error::TryRecvError};

use super::*;

fn replies() -> Replies {
    Replies { now: 1, replies: Vec::new(), backlog: false, look_in: None }
}

fn batch(requests: Vec<Request>) -> Batch {
    let name = Name::new("q").unwrap();
    Batch { name, session: Inbox(1), number: 1, not_after: 9, seen: 0, requests }
}

/// A disk that takes its time: it says when it begins, and is done when told so.
fn slow_disk() -> (Sync, Receiver<()>, Sender<io::Result<()>>) {
    let (begun, begins) = mpsc::channel();
    let (finish, finished) = mpsc::channel();
    let sync = move || {
        begun.send(()).unwrap();
        finished.recv().unwrap()
    };
    (Box::new(sync), begins, finish)
}

#[test]
fn an_answer_is_given_when_the_disk_has_it_and_not_before() {
    let (sync, begins, finish) = slow_disk();
    let mut keeper = Keeper::new(Path::new("/x"), sync);
    let (answer, mut reply) = oneshot::channel();
    keeper.answer_later(answer, replies());
    begins.recv().unwrap();
    assert!(matches!(reply.try_recv(), Err(TryRecvError::Empty)));
    finish.send(Ok(())).unwrap();
    assert_eq!(reply.blocking_recv().unwrap().unwrap(), replies());
}

#[test]
fn answers_that_come_while_the_disk_is_busy_share_the_next_time_it_is_waited_for() {
    let (sync, begins, finish) = slow_disk();
    let mut keeper = Keeper::new(Path::new("/x"), sync);
    let asked: Vec<_> = (0..20)
        .map(|n| {
            let (answer, reply) = oneshot::channel();
            keeper.answer_later(answer, replies());
            if n == 0 {
                begins.recv().unwrap();
            }
            reply
        })
        .collect();
    for _ in 0..2 {
        finish.send(Ok(())).unwrap();
    }
    for reply in asked {
        reply.blocking_recv().unwrap().unwrap();
    }
    assert_eq!(begins.try_iter().count(), 1, "one for the first answer and one for the others");
}

#[test]
fn after_a_disk_has_failed_once_nothing_is_said_to_be_kept() {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let sync = move || match counter.fetch_add(1, Ordering::Relaxed) {
        0 => Err(io::Error::other("broken")),
        _ => Ok(()),
    };
    let mut keeper = Keeper::new(Path::new("/x"), Box::new(sync));
    for _ in 0..2 {
        let (answer, reply) = oneshot::channel();
        keeper.answer_later(answer, replies());
        let error = reply.blocking_recv().unwrap().unwrap_err();
        assert_eq!(error.certainty(), Certainty::Unknown);
        assert!(error.to_string().contains("broken"), "{error}");
    }
}

#[test]
fn what_workers_say_does_not_wait_for_the_disk_and_what_people_say_does() {
    let workers = vec![Request::Leave, Request::Inspect { rows: 1 }];
    assert!(!is_to_be_kept(&batch(workers.clone())));
    let resume = [Request::Configure(Configure::Resume)];
    assert!(is_to_be_kept(&batch(workers.into_iter().chain(resume).collect())));
}
