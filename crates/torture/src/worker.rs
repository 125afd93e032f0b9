//! A worker: a process that acquires, holds and releases permits through the public API. It writes
//! each step down before it takes it.

mod turn;

use std::{
    io::{self, Read},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use seinpaal::{AcquireError, Permit, PermitState, Seinpaal};
use seinpaal_rig::fork;
use tokio::{sync::watch, task::JoinSet};

use self::turn::{RequestTurn, WaitingWay};
use crate::{
    clock,
    history::{Pen, TortureWhat},
    queue::{self, labour::Labour},
};

const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// The orders of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOrders {
    /// The store.
    pub url: String,
    /// The name of this life.
    pub who: String,
    /// The file that the history goes to.
    pub history: PathBuf,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The ttl of leases.
    pub ttl: Duration,
    /// The number of tasks, each of which makes one request after the other.
    pub tasks: u64,
    /// The names and their limits. With no names, the worker uses the queue.
    pub names: Vec<(String, u32)>,
}

struct TortureWorker {
    orders: WorkerOrders,
    pen: Pen,
    seinpaal: Seinpaal,
}

/// Works until standard input ends.
///
/// # Errors
/// If the history cannot be opened.
pub fn work(orders: WorkerOrders) -> io::Result<()> {
    let pen = Pen::open(&orders.history, &orders.who)?;
    let stop = stop_with_stdin();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = connect(&orders.url, &orders.who, orders.ttl, &stop).await;
        let Some(seinpaal) = store else { return };
        pen.write(TortureWhat::Started);
        let worker = Arc::new(TortureWorker { orders, pen, seinpaal });
        let mut tasks = JoinSet::new();
        for task in 0..worker.orders.tasks {
            if worker.orders.names.is_empty() {
                tasks.spawn(Arc::clone(&worker).at_queue(task, stop.clone()));
            } else {
                tasks.spawn(Arc::clone(&worker).labour(task, stop.clone()));
            }
        }
        while let Some(ended) = tasks.join_next().await {
            ended.expect("a task panics only if it cannot write the history, which ends the run");
        }
        let _ = worker.seinpaal.close().await;
        worker.pen.write(TortureWhat::Ended);
    });
    Ok(())
}

/// Returns a value that becomes true when standard input ends. The rig closes it to tell its
/// workers to finish, and its own end closes it, too.
pub(crate) fn stop_with_stdin() -> watch::Receiver<bool> {
    let (sender, stop) = watch::channel(false);
    thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = sender.send(true);
    });
    stop
}

/// Connects, and tries again until it succeeds, because the store may be in the middle of a fault.
/// `None` if the worker was told to stop.
pub(crate) async fn connect(
    url: &str,
    who: &str,
    ttl: Duration,
    stop: &watch::Receiver<bool>,
) -> Option<Seinpaal> {
    while !*stop.borrow() {
        match Seinpaal::builder(url).ttl(ttl).client(who).connect().await {
            Ok(seinpaal) => return Some(seinpaal),
            Err(_) => tokio::time::sleep(BETWEEN_TRIES).await,
        }
    }
    None
}

impl TortureWorker {
    /// Works at the queue: one task pushes, and the others pop.
    async fn at_queue(self: Arc<Self>, task: u64, stop: watch::Receiver<bool>) {
        let labour = Labour {
            pen: self.pen.clone(),
            queue: queue::labour::queue(&self.seinpaal),
            who: format!("{}.{task}", self.orders.who),
            ttl: self.orders.ttl,
            rng: fork(self.orders.seed, task),
            stop,
        };
        if task == 0 { labour.push().await } else { labour.work().await }
    }

    async fn labour(self: Arc<Self>, task: u64, mut stop: watch::Receiver<bool>) {
        let mut rng = fork(self.orders.seed, task);
        for number in 0_u64.. {
            if *stop.borrow() {
                return;
            }
            let turn = RequestTurn::draw(&mut rng, &self.orders);
            let req = format!("{}.{task}.{number}", self.orders.who);
            if let Some(permit) = self.ask(&req, &turn, &mut stop).await {
                self.hold(&req, &turn, permit, &mut stop).await;
            }
            tokio::time::sleep(turn.rest).await;
        }
    }

    async fn ask(
        &self,
        req: &str,
        turn: &RequestTurn,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<Permit> {
        let (name, permits) = (turn.name.clone(), turn.permits);
        let want =
            TortureWhat::Want { req: req.to_owned(), name, permits, timeout: turn.timeout() };
        self.pen.write(want);
        let semaphore = self.seinpaal.semaphore(&turn.name).limit(turn.limit);
        let asking = async {
            if let WaitingWay::Try = turn.way {
                return semaphore.try_acquire().permits(permits).await;
            }
            let (pen, queued) = (self.pen.clone(), req.to_owned());
            let tell = move |waiting| pen.write(TortureWhat::Queued { req: queued, waiting });
            let mut asking = semaphore.acquire().permits(permits).on_queued(tell);
            if let WaitingWay::Within(timeout) = turn.way {
                asking = asking.timeout(timeout);
            }
            asking.await.map(Some)
        };
        // This line is written before the request is dropped, and the drop happens before the
        // branch's own code runs. By the time that code runs, another process may have the permits.
        let withdrawn = async {
            turn.until_withdrawn(stop).await;
            self.pen.write(TortureWhat::Withdrawn { req: req.to_owned() });
        };
        tokio::select! {
            biased;
            answer = asking => self.take(req, answer).await,
            () = withdrawn => None,
        }
    }

    async fn take(
        &self,
        req: &str,
        answer: Result<Option<Permit>, AcquireError>,
    ) -> Option<Permit> {
        let (why, is_trouble) = match answer {
            Ok(Some(permit)) => {
                self.note_grant(req, &permit);
                return Some(permit);
            }
            Ok(None) => ("busy".to_owned(), false),
            Err(error @ AcquireError::TimedOut) => (error.to_string(), false),
            Err(error) => (error.to_string(), true),
        };
        self.pen.write(TortureWhat::Refused { req: req.to_owned(), why });
        if is_trouble {
            tokio::time::sleep(BETWEEN_TRIES).await;
        }
        None
    }

    fn note_grant(&self, req: &str, permit: &Permit) {
        let (at, until) = belief(permit);
        self.pen.write_at(
            at,
            TortureWhat::Granted {
                req: req.to_owned(),
                ticket: permit.ticket().to_string(),
                fence: permit.fence().0,
                slots: permit.slots().iter().collect(),
                until,
            },
        );
    }

    async fn hold(
        &self,
        req: &str,
        turn: &RequestTurn,
        permit: Permit,
        stop: &mut watch::Receiver<bool>,
    ) {
        let until = tokio::time::Instant::now() + turn.hold;
        let mut must_go = *stop.borrow();
        while !must_go && permit.is_held() {
            tokio::select! {
                () = tokio::time::sleep_until(until) => break,
                _ = stop.changed() => must_go = true,
                () = permit.changed() => self.note_hold(req, &permit),
            }
        }
        if permit.is_held() {
            self.pen.write(TortureWhat::Releasing { req: req.to_owned() });
        } else {
            let how = format!("{:?}", permit.state());
            self.pen.write(TortureWhat::Lost { req: req.to_owned(), how });
        }
        if turn.drops {
            return drop(permit);
        }
        let held = permit.release().await.is_ok();
        self.pen.write(TortureWhat::Released { req: req.to_owned(), held });
    }

    fn note_hold(&self, req: &str, permit: &Permit) {
        let (at, until) = belief(permit);
        if permit.is_held() {
            self.pen.write_at(at, TortureWhat::Held { req: req.to_owned(), until });
        }
        if permit.state() == PermitState::Danger {
            self.pen.write(TortureWhat::Danger { req: req.to_owned() });
        }
    }
}

/// Returns the present moment, and the moment until which the holder believes in its permit. The
/// clock is read first, so the belief is never too long.
fn belief(permit: &Permit) -> (u64, Option<u64>) {
    let at = clock::now();
    let until = permit
        .remaining()
        .map(|left| at.saturating_add(u64::try_from(left.as_micros()).unwrap_or(u64::MAX)));
    (at, if permit.is_held() { until } else { Some(at) })
}
