use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use seinpaal_proto::{Inbox, Name, queue::Configure};
use std::sync::mpsc::{RecvError, TryRecvError};
use tokio::sync::oneshot;

use super::*;

fn replies() -> Replies {
    Replies { now: 1, replies: Vec::new(), backlog: false, look_in: None }
}

fn batch(requests: Vec<Request>) -> Batch {
    let name = Name::new("q").unwrap();
    Batch { name, session: Inbox(1), number: 1, not_after: 9, seen: 0, requests }
}

/// A disk that takes its time: it says when it begins, and is done when told so.
fn slow_disk() -> (Box<dyn Disk>, Receiver<()>, Sender<io::Result<()>>) {
    let (begun, begins) = mpsc::channel();
    let (finish, finished) = mpsc::channel();
    let sync = move || {
        begun.send(()).unwrap();
        finished.recv().unwrap()
    };
    (Box::new(WatchedDisk(sync)), begins, finish)
}

#[test]
fn an_answer_is_given_when_the_disk_has_it_and_not_before() {
    let (disk, begins, finish) = slow_disk();
    let mut disk_thread = DiskThread::new(Path::new("/x"), disk);
    let (answer, mut reply) = oneshot::channel();
    disk_thread.answer_later(answer, replies());
    begins.recv().unwrap();
    assert!(matches!(reply.try_recv(), Err(oneshot::error::TryRecvError::Empty)));
    finish.send(Ok(())).unwrap();
    assert_eq!(reply.blocking_recv().unwrap().unwrap(), replies());
}

#[test]
fn answers_that_come_while_the_disk_is_busy_share_the_next_time_it_is_waited_for() {
    let (disk, begins, finish) = slow_disk();
    let mut disk_thread = DiskThread::new(Path::new("/x"), disk);
    let asked: Vec<_> = (0..20)
        .map(|n| {
            let (answer, reply) = oneshot::channel();
            disk_thread.answer_later(answer, replies());
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
fn after_a_disk_has_failed_once_nothing_is_confirmed() {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let sync = move || match counter.fetch_add(1, Ordering::Relaxed) {
        0 => Err(io::Error::other("broken")),
        _ => Ok(()),
    };
    let mut disk_thread = DiskThread::new(Path::new("/x"), Box::new(WatchedDisk(sync)));
    for _ in 0..2 {
        let (answer, reply) = oneshot::channel();
        disk_thread.answer_later(answer, replies());
        let error = reply.blocking_recv().unwrap().unwrap_err();
        assert_eq!(error.certainty(), Certainty::Unknown);
        assert!(error.to_string().contains("broken"), "{error}");
    }
}

/// A disk that is not asked the first time.
struct NotAskedAtFirst(bool);

impl Disk for NotAskedAtFirst {
    fn sync(&mut self) -> Result<(), DiskFailure> {
        match std::mem::replace(&mut self.0, true) {
            true => Ok(()),
            false => Err(DiskFailure::NotAsked(io::Error::other("too many open files"))),
        }
    }

    fn write_back(&mut self) -> Result<(), DiskFailure> {
        self.sync()
    }
}

#[test]
fn where_a_file_could_not_be_opened_only_the_answers_of_that_time_are_failures() {
    let mut disk_thread = DiskThread::new(Path::new("/x"), Box::new(NotAskedAtFirst(false)));
    let (answer, reply) = oneshot::channel();
    disk_thread.answer_later(answer, replies());
    let error = reply.blocking_recv().unwrap().unwrap_err();
    assert_eq!(error.certainty(), Certainty::Unknown);
    assert!(error.to_string().ends_with("too many open files; try again"), "{error}");
    let (answer, reply) = oneshot::channel();
    disk_thread.answer_later(answer, replies());
    assert_eq!(reply.blocking_recv().unwrap().unwrap(), replies());
    let mut disk_thread = DiskThread::new(Path::new("/x"), Box::new(NotAskedAtFirst(false)));
    assert_eq!(disk_thread.write_back().recv(), Err(RecvError));
    let (answer, reply) = oneshot::channel();
    disk_thread.answer_later(answer, replies());
    assert_eq!(reply.blocking_recv().unwrap().unwrap(), replies());
}

#[test]
fn a_log_is_written_back_beside_the_calls_and_after_the_answers_that_wait() {
    let (disk, begins, finish) = slow_disk();
    let mut disk_thread = DiskThread::new(Path::new("/x"), disk);
    let under_way = disk_thread.write_back();
    begins.recv().unwrap();
    assert_eq!(under_way.try_recv(), Err(TryRecvError::Empty), "it goes on by itself");
    let (answer, reply) = oneshot::channel();
    let again = disk_thread.write_back();
    disk_thread.answer_later(answer, replies());
    finish.send(Ok(())).unwrap();
    assert_eq!(under_way.recv(), Err(RecvError));
    finish.send(Ok(())).unwrap();
    reply.blocking_recv().unwrap().unwrap();
    assert_eq!(again.try_recv(), Err(TryRecvError::Empty), "the answer came first");
    finish.send(Ok(())).unwrap();
    assert_eq!(again.recv(), Err(RecvError));
}

#[test]
fn what_was_pushed_is_not_kept_for_certain_once_the_log_could_not_be_written_back() {
    let (disk, _begins, finish) = slow_disk();
    let mut disk_thread = DiskThread::new(Path::new("/x"), disk);
    let under_way = disk_thread.write_back();
    finish.send(Err(io::Error::other("broken"))).unwrap();
    assert_eq!(under_way.recv(), Err(RecvError));
    let (answer, reply) = oneshot::channel();
    disk_thread.answer_later(answer, replies());
    let error = reply.blocking_recv().unwrap().unwrap_err();
    assert!(error.to_string().contains("broken"), "{error}");
}

#[test]
fn what_workers_say_does_not_wait_for_the_disk_and_what_people_say_does() {
    let workers = vec![Request::Leave, Request::Inspect { rows: 1 }];
    assert!(!is_to_be_kept(&batch(workers.clone())));
    let resume = [Request::Configure(Configure::Resume)];
    assert!(is_to_be_kept(&batch(workers.into_iter().chain(resume).collect())));
}
