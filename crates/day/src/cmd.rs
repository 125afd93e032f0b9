//! The commands that `seinpaal` runs as CMD, and the command that a shell's loop runs in place of
//! `seinpaal`. Each of them is a call of this program, `day`.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read},
    process,
    sync::mpsc,
    thread,
    time::Duration,
};

use fastrand::Rng;
use seinpaal_rig::between;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::{
    end::PossibleEnd,
    history::{CmdVisit, DayWhat, DeliveryToCmd},
    job::{DayJob, said},
    world::DayWorld,
};

/// The text that CMD prints when its work is done.
pub const DONE: &str = "done\n";
/// How long a single run of a shell's loop may take. A longer one hangs.
const BOUND: Duration = Duration::from_secs(600);

/// `day hold SPAN [STATUS]`: CMD. It writes down that it is inside, and stays for SPAN (`2.5`, or a
/// time drawn from `0.5..5`). Then it writes down that it leaves, and ends with STATUS.
///
/// # Errors
/// If this process was not started in a world.
pub fn hold(args: &[String]) -> io::Result<i32> {
    let (world, job) = DayWorld::found()?;
    let (ended, signals) = mpsc::channel();
    let mut caught = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT])?;
    thread::spawn(move || caught.forever().all(|number| ended.send(number).is_ok()));
    let time = span(args.first().map_or("0", String::as_str), &world, &job)?;
    world.note(&job, DayWhat::Entered(visit()));
    fs::write(said(&world, &job, "in"), "")?;
    if let Ok(number) = signals.recv_timeout(time) {
        world.note(&job, DayWhat::Left { status: 128 + number });
        emulate_default_handler(number)?;
    }
    let status = args.get(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    world.note(&job, DayWhat::Left { status });
    print!("{DONE}");
    Ok(status)
}

/// Reads the environment that the program, or a script in its place, has set for CMD.
fn visit() -> CmdVisit {
    let find = |name: &str| env::var(format!("SEINPAAL_{name}")).ok();
    let number = |name: &str| find(name).and_then(|text| text.parse::<u64>().ok());
    CmdVisit {
        name: find("NAME").unwrap_or_default(),
        permits: number("PERMITS").and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        slot: number("SLOT").and_then(|n| u32::try_from(n).ok()),
        fence: number("FENCE"),
        pid: process::id(),
    }
}

/// Reads a time, or draws one from a range. With one seed, a job draws the same time in every run.
fn span(text: &str, world: &DayWorld, job: &str) -> io::Result<Duration> {
    let seconds = |text: &str| {
        let parsed = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
        parsed.ok_or_else(|| io::Error::other(format!("not seconds: {text}")))
    };
    let Some((shortest, longest)) = text.split_once("..") else { return seconds(text) };
    Ok(between(&mut rng(world, job), seconds(shortest)?, seconds(longest)?))
}

fn rng(world: &DayWorld, what: &str) -> Rng {
    let mut hasher = DefaultHasher::new();
    (what, world.seed).hash(&mut hasher);
    Rng::with_seed(hasher.finish())
}

/// `day item`: CMD of a worker. The item's payload says how the delivery ends: `later` is given
/// back once, `twice` fails once, `bad` always fails, and everything else is done.
///
/// # Errors
/// If this process was not started in a world.
pub fn item() -> io::Result<i32> {
    let (world, job) = DayWorld::found()?;
    let mut payload = String::new();
    io::stdin().read_to_string(&mut payload)?;
    let find = |name: &str| env::var(format!("SEINPAAL_{name}")).unwrap_or_default();
    let queue = find("NAME");
    let is_first = || {
        let mark = said(&world, &world.who(&format!("{queue}-{payload}")), "seen");
        fs::File::create_new(mark).is_ok()
    };
    let status = match payload.rsplit_once('-').map(|(_, what)| what) {
        Some("later") if is_first() => 75,
        Some("twice") if is_first() => 1,
        Some("bad") => 3,
        _ => 0,
    };
    let mut rng = rng(&world, &format!("{queue}{payload}"));
    thread::sleep(between(&mut rng, Duration::ZERO, Duration::from_millis(400)));
    let fence = find("FENCE").parse().unwrap_or(0);
    world.note(&job, DayWhat::Delivered(DeliveryToCmd { queue, payload, fence, status }));
    Ok(status)
}

/// `day once N NAME LIMIT COMMAND…`: one job of a shell's loop, called `JOB.N`. It is watched like
/// any other job.
///
/// # Errors
/// If this process was not started in a world.
pub fn once(args: &[String]) -> io::Result<i32> {
    let (world, job) = DayWorld::found()?;
    let [number, name, limit, argv @ ..] = args else {
        return Err(io::Error::other("day once N NAME LIMIT COMMAND…"));
    };
    let limit = limit.parse().map_err(|_| io::Error::other("the limit is no number"))?;
    let is_watched = argv.iter().any(|arg| arg == "--events");
    let job = DayJob::new(&world, format!("{job}.{number}"), argv.to_vec());
    let job = job.wants(name, limit, 0).may_end(PossibleEnd::own(0, DONE));
    let job = if is_watched { job.watched() } else { job };
    Ok(job.start().wait(BOUND))
}
