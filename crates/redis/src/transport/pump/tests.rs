use std::{
    sync::{Barrier, Weak, atomic::AtomicU32},
    thread,
};

use futures_util::task::noop_waker;

use super::*;

/// Counts how often it is polled, and keeps the context of each poll.
#[derive(Default)]
struct Seen {
    polls: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

impl Seen {
    fn polls(&self) -> u32 {
        self.polls.load(Ordering::SeqCst)
    }

    fn wake(&self) {
        self.waker.lock().unwrap().clone().unwrap().wake();
    }
}

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Wakes {
    fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A pump whose work never ends, and whose task has polled it once.
fn pump() -> (Arc<Pump>, Arc<Seen>, Arc<Wakes>) {
    let (seen, wakes) = (Arc::new(Seen::default()), Arc::new(Wakes::default()));
    let noted = Arc::clone(&seen);
    let pump = Arc::new(Pump::new(poll_fn(move |context| {
        noted.polls.fetch_add(1, Ordering::SeqCst);
        *noted.waker.lock().unwrap() = Some(context.waker().clone());
        Poll::Pending
    })));
    let waker = Waker::from(Arc::clone(&wakes));
    let mut task = Box::pin(Arc::clone(&pump).run());
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    (pump, seen, wakes)
}

#[test]
fn what_is_put_in_here_is_written_here_and_the_task_sleeps_on() {
    let (pump, seen, wakes) = pump();
    pump.send_here(&mut || seen.wake());
    assert_eq!((seen.polls(), wakes.count()), (2, 0));
}

#[test]
fn where_nothing_is_put_in_nothing_is_written() {
    let (pump, seen, wakes) = pump();
    pump.send_here(&mut || {});
    assert_eq!((seen.polls(), wakes.count()), (1, 0));
}

#[test]
fn what_comes_in_wakes_the_task() {
    let (pump, seen, wakes) = pump();
    pump.send_here(&mut || seen.wake());
    assert_eq!(wakes.count(), 0);
    seen.wake();
    assert_eq!(wakes.count(), 1);
}

#[test]
fn while_somebody_else_is_at_it_the_task_is_woken_for_what_is_put_in() {
    let (pump, seen, wakes) = pump();
    let busy = pump.work.lock().unwrap();
    pump.send_here(&mut || seen.wake());
    drop(busy);
    assert_eq!((seen.polls(), wakes.count()), (1, 1));
}

#[test]
fn a_second_guest_leaves_it_to_the_task() {
    let (pump, seen, wakes) = pump();
    pump.send_here(&mut || pump.send_here(&mut || seen.wake()));
    assert_eq!((seen.polls(), wakes.count()), (2, 0), "the first one sends for both");
}

#[test]
fn the_task_ends_with_work_that_ended_here() {
    let (bell, is_over) = (Arc::new(Wakes::default()), Arc::new(AtomicBool::new(false)));
    let (waker, over) = (Waker::from(Arc::clone(&bell)), Arc::clone(&is_over));
    let asked = Arc::new(AtomicWaker::new());
    let heard = Arc::clone(&asked);
    let pump = Arc::new(Pump::new(poll_fn(move |context| {
        heard.register(context.waker());
        if over.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    })));
    let mut task = Box::pin(Arc::clone(&pump).run());
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    is_over.store(true, Ordering::SeqCst);
    pump.send_here(&mut || asked.wake());
    assert_eq!(bell.count(), 1);
    assert!(task.as_mut().poll(&mut Context::from_waker(&noop_waker())).is_ready());
}

#[test]
fn what_panics_here_is_over_for_the_task() {
    let asked = Arc::new(AtomicWaker::new());
    let (heard, polls) = (Arc::clone(&asked), AtomicU32::new(0));
    let pump = Arc::new(Pump::new(poll_fn(move |context| {
        heard.register(context.waker());
        assert_eq!(polls.fetch_add(1, Ordering::SeqCst), 0, "planned");
        Poll::Pending
    })));
    let mut task = Box::pin(Arc::clone(&pump).run());
    let bell = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&bell));
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let here = std::panic::AssertUnwindSafe(|| pump.send_here(&mut || asked.wake()));
    assert!(std::panic::catch_unwind(here).is_err());
    assert_eq!(bell.count(), 1);
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
}

/// This happens when a message that the work receives makes it drop the last owner of its
/// connection.
#[test]
fn work_that_closes_its_own_pump_ends_when_it_has_been_polled() {
    let owned = Arc::new(());
    let is_owned = Arc::downgrade(&owned);
    let pump = Arc::new_cyclic(|pump: &Weak<Pump>| {
        let pump = Weak::clone(pump);
        Pump::new(poll_fn(move |_| {
            let _ = &owned;
            pump.upgrade().unwrap().close();
            Poll::Pending
        }))
    });
    assert_eq!(is_owned.strong_count(), 1);
    let mut task = Box::pin(Arc::clone(&pump).run());
    assert!(task.as_mut().poll(&mut Context::from_waker(&noop_waker())).is_ready());
    assert_eq!(is_owned.strong_count(), 0, "what the work owned is dropped");
}

/// This happens when a connection is dropped under a lock that its work needs at this moment.
#[test]
fn a_pump_closes_without_waiting_for_work_that_waits_for_the_one_who_closes_it() {
    let (lock, is_polled) = (Arc::new(Mutex::new(())), Arc::new(Barrier::new(2)));
    let (wanted, polled) = (Arc::clone(&lock), Arc::clone(&is_polled));
    let pump = Arc::new(Pump::new(poll_fn(move |_| {
        polled.wait();
        drop(wanted.lock());
        Poll::Pending
    })));
    let held = lock.lock().unwrap();
    let mut task = Box::pin(Arc::clone(&pump).run());
    let polling = thread::spawn(move || {
        task.as_mut().poll(&mut Context::from_waker(&noop_waker())).is_ready()
    });
    is_polled.wait();
    pump.close();
    drop(held);
    assert!(polling.join().unwrap(), "the work has ended");
}
