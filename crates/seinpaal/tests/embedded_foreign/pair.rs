//! A program with two connections to one store. Each has a task that takes permits, one has a
//! producer, and the other a worker.

use std::{
    env,
    fs::OpenOptions,
    io::{BufRead, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use fastrand::Rng;
use seinpaal::{PopError, Seinpaal};

use super::{
    judge::Judge,
    late::Late,
    processes,
    siege::{LIMIT, SEED},
    url,
};

/// The state that the tasks of a program share.
#[derive(Clone)]
struct Scene {
    place: PathBuf,
    is_over: Arc<AtomicBool>,
}

impl Scene {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Writes a line to a file that outlives the program.
    fn note(&self, file: &str, line: &str) {
        let path = self.place.join(file);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

pub(super) fn run() {
    let dir = PathBuf::from(env::var(processes::DIR).unwrap());
    let place = dir.parent().unwrap().to_owned();
    let judges = [Judge::open(&place), Judge::open(&place)];
    let seed: u64 = env::var(SEED).unwrap().parse().unwrap();
    let scene = Scene { place, is_over: Arc::default() };
    let told = Arc::clone(&scene.is_over);
    thread::spawn(move || {
        let _ = std::io::stdin().lock().lines().next();
        told.store(true, Ordering::Relaxed);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(live(&dir, &scene, judges, seed));
}

async fn live(dir: &Path, scene: &Scene, judges: [Judge; 2], seed: u64) {
    let url = url(dir);
    let (first, second) = (Seinpaal::connect(&url).await, Seinpaal::connect(&url).await);
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(error), _) | (_, Err(error)) => return trouble(Err(error)),
    };
    println!("> open");
    let [judge, other_judge] = judges;
    tokio::join!(
        take_permits(&first, scene, judge, Rng::with_seed(seed)),
        take_permits(&second, scene, other_judge, Rng::with_seed(seed ^ 1)),
        produce(&first, scene, seed),
        work(&second, scene),
    );
}

async fn take_permits(seinpaal: &Seinpaal, scene: &Scene, judge: Judge, mut rng: Rng) {
    let semaphore = seinpaal.semaphore("n").limit(LIMIT);
    while scene.goes_on() {
        match semaphore.acquire().await {
            Ok(permit) => {
                judge.enter(permit.slot());
                scene.note("grants", &permit.fence().to_string());
                tokio::time::sleep(Duration::from_micros(rng.u64(..3000))).await;
                judge.leave(permit.slot());
                trouble(permit.release().await);
            }
            Err(error) => trouble(Err::<(), _>(error)),
        }
    }
}

async fn produce(seinpaal: &Seinpaal, scene: &Scene, seed: u64) {
    let queue = seinpaal.queue("q");
    for n in 0.. {
        if !scene.goes_on() {
            return;
        }
        let item = format!("{seed}-{n}");
        match queue.push(item.clone()).deliveries(1000).await {
            Ok(_) => scene.note("pushed", &item),
            Err(error) => trouble(Err::<(), _>(error)),
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn work(seinpaal: &Seinpaal, scene: &Scene) {
    let queue = seinpaal.queue("q");
    while scene.goes_on() {
        match queue.pop().timeout(Duration::from_millis(500)).await {
            Ok(item) => {
                scene.note("done", std::str::from_utf8(item.payload()).unwrap());
                trouble(item.acknowledge().await);
            }
            Err(PopError::TimedOut) => {}
            Err(error) => trouble(Err::<(), _>(error)),
        }
    }
}

/// A store in trouble is a violation, because nothing here gives it a reason. Lateness is no
/// violation: the disk may be slow for seconds where many machines share it, and every client waits
/// for the disk.
fn trouble<E: Late>(outcome: Result<(), E>) {
    match outcome {
        Err(error) if error.is_late() => println!("> late: {error}"),
        Err(error) => println!("> violation: {error}"),
        Ok(()) => {}
    }
}
