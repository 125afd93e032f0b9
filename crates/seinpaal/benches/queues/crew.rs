//! Workers in processes of their own: the program runs itself again and reads a line about each
//! item.

use std::{
    convert::Infallible,
    env,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use seinpaal::{Item, Queue, Seinpaal};

const URL: &str = "SEINPAAL_QUEUES_URL";
const NAME: &str = "SEINPAAL_QUEUES_NAME";
const CONCURRENCY: &str = "SEINPAAL_QUEUES_CONCURRENCY";

/// Worker processes, which are killed when this is dropped.
pub(crate) struct Crew {
    processes: Vec<Child>,
    said: mpsc::Receiver<Worked>,
}

/// A worker's report on an item, which it makes just before it acknowledges the item. All times are
/// microseconds of the wall clock, which on one machine is also the store's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worked {
    /// The group, from the payload.
    pub(crate) group: u64,
    /// When the item was pushed or due, from the payload.
    pub(crate) stamp: u64,
    pub(crate) began: u64,
    pub(crate) ended: u64,
}

impl Crew {
    /// Starts so many, and returns when all stand in line.
    pub(crate) async fn start(url: &str, queue: &Queue, workers: u32, concurrency: u32) -> Self {
        let (sender, said) = mpsc::channel();
        let start = |_| {
            let mut process = Command::new(env::current_exe().expect("the program knows itself"))
                .env(URL, url)
                .env(NAME, queue.name())
                .env(CONCURRENCY, concurrency.to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the program runs");
            let output = process.stdout.take().expect("piped");
            let sender = sender.clone();
            thread::spawn(move || pass_on(output, &sender));
            process
        };
        let crew = Self { processes: (0..workers).map(start).collect(), said };
        while queue.snapshot().await.expect("the store answers").idle < workers {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        crew
    }

    /// Waits for the reports on the next so many items.
    pub(crate) fn worked(&self, items: usize) -> Vec<Worked> {
        let next =
            |_| self.said.recv_timeout(Duration::from_secs(120)).expect("items are worked on");
        (0..items).map(next).collect()
    }

    /// Takes the reports that have come until now.
    pub(crate) fn worked_so_far(&self) -> Vec<Worked> {
        self.said.try_iter().collect()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = (process.kill(), process.wait()); // both fail only if it has ended
        }
    }
}

fn pass_on(output: ChildStdout, sender: &mpsc::Sender<Worked>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [group, stamp, began, ended] = numbers[..] else { panic!("a worker says {line:?}") };
        let _ = sender.send(Worked { group, stamp, began, ended }); // at the end there is no receiver
    }
}

/// A payload of 64 bytes: the item's group, how long it takes, and a moment.
pub(crate) fn payload(group: u64, hold: Duration, stamp: u64) -> String {
    format!("{:<64}", format!("{group} {} {stamp}", hold.as_micros()))
}

pub(crate) fn wall() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_micros()).expect("before the year 584542")
}

// ---- the worker's side

pub(crate) fn was_started_as_one() -> bool {
    env::var_os(URL).is_some()
}

pub(crate) async fn work() {
    thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0); // the program that started this one has ended
    });
    let [url, name, concurrency] = [URL, NAME, CONCURRENCY].map(|key| env::var(key).expect("set"));
    let seinpaal = Seinpaal::connect(&url).await.expect("the store is there");
    let concurrency = concurrency.parse().expect("a number");
    let worker = seinpaal.queue(&name).worker(concurrency, handle);
    worker.run().await.expect("the store stays");
}

async fn handle(item: Item) -> Result<(), Infallible> {
    let began = wall();
    let text = String::from_utf8_lossy(item.payload()).into_owned();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [group, hold, stamp] = numbers[..] else { panic!("a strange payload: {text:?}") };
    if hold > 0 {
        tokio::time::sleep(Duration::from_micros(hold)).await;
    }
    println!("{group} {stamp} {began} {}", wall());
    Ok(())
}
