//! Tests of the program's surroundings: the signals and limits of its caller, and a container.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Child, Command},
};

use super::support::{Held, World, both, kill, program, until};

/// A command that prints its blocked and ignored signals, as the kernel lists them.
const LOOK: &str = "grep -E 'Sig(Blk|Ign)' /proc/self/status";

#[test]
fn cmd_ignores_and_blocks_just_what_the_caller_does() {
    for caller in ["env", "env --ignore-signal", "env --ignore-signal --block-signal=USR2,PIPE"] {
        for world in both() {
            let direct = signals_in(&world.shell(&format!("{caller} {LOOK}")).out);
            for run in [
                "run a",
                "run a --also b",
                "-s redis://127.0.0.1:1?connect-timeout=1s run --on-unreachable run a",
            ] {
                let done = world.shell(&format!("{caller} $SEINPAAL -q {run} {LOOK}"));
                assert_eq!((done.code, signals_in(&done.out)), (0, direct), "{caller}: {run}");
            }
            world.push("q", "x");
            let done =
                world.shell(&format!("{caller} $SEINPAAL queue work q --until-empty {LOOK}"));
            assert_eq!((done.code, signals_in(&done.out)), (0, direct), "{caller}: queue work");
        }
    }
}

/// Reads the two lines as bits, without the signals 32 and 33, which are the C library's own.
fn signals_in(lines: &str) -> [u64; 2] {
    let bits = lines.lines().map(|line| u64::from_str_radix(line.split('\t').nth(1)?, 16).ok());
    let bits: Vec<_> = bits.map(|bits| bits.expect("a line of the kernel") & !(3 << 31)).collect();
    bits.try_into().expect("blocked and ignored signals")
}

#[test]
fn a_program_that_may_open_too_few_files_says_so_in_one_line() {
    for mut world in both() {
        if world.redis.is_some() {
            world.store += "?connect-timeout=500ms";
        }
        let mut refused = 0;
        for most in 4..30 {
            let script =
                format!("unset RUST_BACKTRACE; ulimit -n {most}; $SEINPAAL run a /bin/true");
            let done = world.shell(&script);
            if done.code != 0 {
                refused += 1;
                assert!([69, 70].contains(&done.code), "{most}: {done:?}");
                let is_ours = done.err.starts_with("seinpaal: ");
                assert!(is_ours && done.err.lines().count() == 1, "{most}: {done:?}");
            }
        }
        assert!(refused > 0, "this test would see nothing");
        assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 0);
    }
}

#[test]
fn a_program_that_may_write_no_files_is_not_killed_for_that() {
    let script = "ulimit -f 0; $SEINPAAL run a sh -c 'exit 7'";
    let done = World::redis().shell(script);
    assert_eq!((done.code, done.err.as_str()), (7, ""), "a server has the store");
    let world = World::embedded();
    let done = world.shell(script);
    assert!([69, 70, 77].contains(&done.code), "{done:?}");
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
    assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 0);
}

#[test]
fn a_script_without_a_first_line_is_read_by_a_shell_whatever_the_c_library_does() {
    for world in both() {
        let script = world.path("plain");
        fs::write(&script, "read word; echo $word $1; exit 6\n").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        for run in [
            "run a",
            "run a --also b",
            "-q -s redis://127.0.0.1:1?connect-timeout=1s run --on-unreachable run a",
        ] {
            let done = world.shell(&format!("echo in | $SEINPAAL {run} ./plain one"));
            assert_eq!((done.code, done.out.as_str()), (6, "in one\n"), "{run}: {}", done.err);
        }
        world.push("q", "payload");
        fs::write(&script, "read word; echo $word $1\n").unwrap();
        let done = world.shell("$SEINPAAL queue work q --until-empty ./plain three");
        assert_eq!((done.code, done.out.as_str()), (0, "payload three\n"), "{}", done.err);
    }
}

/// A script that leaves a process behind, which ends. It waits until nothing is left of that
/// process, for three minutes at most.
const ORPHAN: &str = "pid=$(sh -c 'sleep 0.2 >/dev/null & echo $!'); \
                      for _ in $(seq 1800); do [ -e /proc/$pid/stat ] || exit 7; sleep 0.1; done";

#[test]
fn the_first_process_of_a_container_reaps_what_cmd_leaves_behind() {
    for world in both() {
        let done = inside(&world, &["run", "a", "sh", "-c", ORPHAN]).end();
        assert_eq!((done.code, done.err.as_str()), (7, ""));
        world.push("q", "x");
        let script = format!("({ORPHAN}); [ $? = 7 ]");
        let work = ["queue", "work", "q", "--until-empty", "--", "sh", "-c", &script];
        let done = inside(&world, &work).end();
        assert_eq!((done.code, done.err.as_str()), (0, ""));
    }
}

#[test]
fn a_signal_to_the_first_process_of_a_container_ends_it() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        let mut waits = inside(&world, &["-q", "run", "a", "true"]);
        world.until_waiting("a", 1);
        kill("TERM", child_of(waits.pid()));
        assert_eq!(waits.end().code, 143);
        world.until_waiting("a", 0);
        held.let_go();
        let mut holds = inside(&world, &["run", "a", "sh", "-c", "echo up; exec sleep 1000"]);
        assert_eq!(holds.line(), "up");
        kill("TERM", child_of(holds.pid()));
        assert_eq!(holds.end().code, 143);
        assert_eq!(world.show("a")["permits_held"], 0);
    }
}

/// The first process of this container reaps no process, like many programs that were not made for
/// that place.
#[test]
fn a_process_that_nobody_reaps_delays_no_end() {
    for world in both() {
        let container = Container::start();
        let mut enter = Command::new("nsenter");
        enter.args(["--target", &container.first.to_string(), "--pid", "--mount"]);
        if !is_root() {
            enter.args(["--user", "--preserve-credentials"]);
        }
        enter.args(["--", program()]);
        // The KILL is an hour away, so only the end of the group can end this run.
        enter.args(["run", "a", "--max-hold", "1s", "-k", "1h", "--ttl", "10h", "--", "sh", "-c"]);
        world.dress(enter.arg("sleep 1000 >/dev/null & echo $!; exec sleep 1000"));
        let mut run = Held::start(enter);
        let left_behind = format!("/proc/{}/root/proc/{}/stat", container.first, run.line());
        until("it ends", || matches!(run.process.try_wait(), Ok(Some(_))));
        assert_eq!(run.end().code, 124);
        let state = fs::read_to_string(left_behind).unwrap();
        assert!(state.contains(") Z "), "nobody was to reap it: {state}");
    }
}

/// A container: processes with numbers of their own.
struct Container {
    unshare: Child,
    /// The first process of the container.
    first: u32,
}

impl Container {
    fn start() -> Self {
        let unshare = apart().args(["sleep", "1000"]).spawn().unwrap();
        let first = child_of(unshare.id());
        let words = format!("/proc/{first}/cmdline");
        until("it has begun", || {
            fs::read_to_string(&words).is_ok_and(|it| it.starts_with("sleep"))
        });
        Self { unshare, first }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.unshare.kill();
        let _ = self.unshare.wait();
    }
}

/// Starts the program as the first process of a container.
fn inside(world: &World, args: &[&str]) -> Held {
    let mut command = apart();
    world.dress(command.arg(program()).args(args));
    Held::start(command)
}

/// Returns a command that puts a program into a process namespace of its own.
fn apart() -> Command {
    let mut command = Command::new("unshare");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "--"]);
    command
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the child of a process that has one.
fn child_of(pid: u32) -> u32 {
    let list = format!("/proc/{pid}/task/{pid}/children");
    let child = || fs::read_to_string(&list).ok()?.split_whitespace().next()?.parse().ok();
    until("it has a child", || child().is_some());
    child().unwrap()
}
