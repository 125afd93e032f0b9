//! A job: one call of the program, or of a script that calls it. The rig starts it, watches it, and
//! waits for its end.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{Child, ChildStdout, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, pidfd_open},
};
use seinpaal_rig::signal;

use crate::{
    end::PossibleEnd,
    history::{DayWhat, JobStart, JobWant},
    world::DayWorld,
};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The shell line that gives the events to the rig and the output to a file.
const WATCHED: &str = r#"exec 3>&1 >"$0"; exec "$@""#;

/// A job that is to be started.
#[derive(Clone, Debug)]
pub struct DayJob {
    world: DayWorld,
    who: String,
    start: JobStart,
    is_watched: bool,
}

/// A job that was started.
#[derive(Debug)]
pub struct RunningJob {
    world: DayWorld,
    who: String,
    child: Child,
    is_queued: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

impl DayJob {
    /// This command, as the job `who`.
    #[must_use]
    pub fn new(world: &DayWorld, who: String, argv: Vec<String>) -> Self {
        let start = JobStart { argv, want: None, ends: Vec::new(), is_hurried: false };
        Self { world: world.clone(), who, start, is_watched: false }
    }

    /// Allows this end. Call it once for each end that is allowed.
    #[must_use]
    pub fn may_end(mut self, end: PossibleEnd) -> Self {
        self.start.ends.push(end);
        self
    }

    /// Says that the job asks for permits of this name.
    #[must_use]
    pub fn wants(mut self, name: &str, limit: u32, priority: i64) -> Self {
        self.start.want = Some(JobWant { name: name.to_owned(), limit, priority });
        self
    }

    /// Says that the job gives up soon.
    #[must_use]
    pub fn hurried(mut self) -> Self {
        self.start.is_hurried = true;
        self
    }

    /// Reads the job's events. The command must have `--events 3`.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.is_watched = true;
        self
    }

    /// Starts the job.
    ///
    /// # Panics
    /// If the command cannot be started: then there is nothing to judge.
    #[must_use]
    pub fn start(self) -> RunningJob {
        let Self { world, who, start, is_watched } = self;
        let argv = start.argv.clone();
        world.note(&who, DayWhat::Started(start));
        let mut child = spawn(&world, &who, &argv, is_watched);
        let is_queued = Arc::new(AtomicBool::new(false));
        let watcher = child.stdout.take().map(|events| {
            let (world, who, is_queued) = (world.clone(), who.clone(), Arc::clone(&is_queued));
            thread::spawn(move || watch(&world, &who, events, &is_queued))
        });
        RunningJob { world, who, child, is_queued, watcher }
    }
}

fn spawn(world: &DayWorld, who: &str, argv: &[String], is_watched: bool) -> Child {
    let out = said(world, who, "out");
    let file = |path| File::create(path).expect("a file");
    let mut command = match is_watched {
        false => {
            let mut command = world.command(who, &argv[0]);
            command.args(&argv[1..]).stdout(file(out));
            command
        }
        true => {
            let mut command = world.command(who, "sh");
            command.args(["-c", WATCHED]).arg(out).args(argv).stdout(Stdio::piped());
            command
        }
    };
    command.stderr(file(said(world, who, "err"))).stdin(Stdio::null()).process_group(0);
    command.spawn().unwrap_or_else(|error| panic!("{argv:?}: {error}"))
}

/// Writes down the events that the job prints, as they come.
fn watch(world: &DayWorld, who: &str, events: ChildStdout, is_queued: &AtomicBool) {
    let pen = world.pen(who);
    for line in BufReader::new(events).lines().map_while(Result::ok) {
        let Ok(told) = serde_json::from_str::<serde_json::Value>(&line) else {
            pen.write(DayWhat::Wrong { story: format!("no event: {line:?}") });
            continue;
        };
        let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
        if told["event"] == "queued" {
            pen.write(DayWhat::Queued { name: text("name") });
            is_queued.store(true, Ordering::SeqCst);
        } else {
            pen.write(DayWhat::Told { event: text("event") });
        }
    }
}

/// The file that the job's output goes to.
#[must_use]
pub fn said(world: &DayWorld, who: &str, what: &str) -> PathBuf {
    world.scratch.join("said").join(format!("{}.{what}", who.replace('/', "-")))
}

impl RunningJob {
    /// The job's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the job's CMD is inside, the job has ended, or the time is up. Returns whether
    /// CMD is inside.
    pub fn until_inside(&mut self, bound: Duration) -> bool {
        let inside = said(&self.world, &self.who, "in");
        self.until(bound, |_| inside.exists())
    }

    /// Waits until the job stands in line, has ended, or the time is up. Works only for a job whose
    /// events are read.
    pub fn until_queued(&mut self, bound: Duration) -> bool {
        self.until(bound, |job| job.is_queued.load(Ordering::SeqCst))
    }

    fn until(&mut self, bound: Duration, is_so: impl Fn(&Self) -> bool) -> bool {
        let deadline = Instant::now() + bound;
        while !is_so(self) {
            if Instant::now() > deadline || !matches!(self.child.try_wait(), Ok(None)) {
                return is_so(self);
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    }

    /// Stops the job for this long.
    pub fn stop_for(&self, time: Duration) {
        self.world.note(&self.who, DayWhat::Stopped { stopped: true });
        signal(self.pid(), Signal::STOP);
        thread::sleep(time);
        self.world.note(&self.who, DayWhat::Stopped { stopped: false });
        signal(self.pid(), Signal::CONT);
    }

    /// Sends the job a signal that it can handle.
    pub fn signal(&self, number: Signal) {
        signal(self.pid(), number);
    }

    /// Kills the job.
    pub fn kill(&self) {
        self.world.note(&self.who, DayWhat::Killing);
        signal(self.pid(), Signal::KILL);
    }

    /// Waits for the job's end, and writes it down. A job that does not end in time is killed.
    pub fn wait(mut self, bound: Duration) -> i32 {
        let status = wait_for(&mut self.child, bound).unwrap_or_else(|| {
            self.world.note(&self.who, DayWhat::Hung);
            let _ = self.child.kill(); // it fails only if the job has ended after all
            self.child.wait().expect("it is our child")
        });
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join(); // it ends with the pipe
        }
        let text = |what| fs::read(said(&self.world, &self.who, what)).unwrap_or_default();
        let text = |what| String::from_utf8_lossy(&text(what)).into_owned();
        let status = code(status);
        let ended = DayWhat::Ended { status, out: text("out"), err: text("err") };
        self.world.note(&self.who, ended);
        status
    }
}

/// The exit status, or 128+n for signal n.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Waits for a child, and returns its status if it ends in time.
fn wait_for(child: &mut Child, bound: Duration) -> Option<ExitStatus> {
    let ended = |child: &mut Child| child.try_wait().expect("it is our child");
    if let Some(status) = ended(child) {
        return Some(status);
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw)?;
    let held = pidfd_open(pid, PidfdFlags::empty()).expect("our child is not waited for yet");
    let deadline = Instant::now() + bound;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).expect("bounds are short");
        let woken = poll(&mut [PollFd::new(&held, PollFlags::IN)], Some(&left));
        match (woken, ended(child)) {
            (_, Some(status)) => return Some(status),
            (Err(error), None) if io::Error::from(error).kind() == io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}
