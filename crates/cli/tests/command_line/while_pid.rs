//! Tests of permits that are kept until a process ends.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::support::{World, both, kill, lives, until, until_written};

/// Starts a process for which permits are kept.
fn process() -> Child {
    Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap()
}

fn keep(world: &World, process: &Child, options: &[&str]) -> String {
    let pid = process.id().to_string();
    let done = world.seinpaal(&[&["acquire", "a", "--while-pid", &pid], options].concat());
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    done.out.trim_end().to_owned()
}

fn end(mut process: Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

fn until_free(world: &World) {
    until("the permit is free", || world.show("a")["permits_held"] == 0);
}

#[test]
fn permits_are_kept_for_longer_than_their_ttl_until_the_process_ends_however_it_ends() {
    for world in both() {
        let process = process();
        let ticket = keep(&world, &process, &["--ttl", "2s"]);
        let began = std::time::Instant::now();
        until("three ttls have passed", || {
            let shown = world.show("a");
            assert_eq!(shown["holders"][0]["ticket"], ticket.as_str(), "{shown}");
            began.elapsed().as_secs() >= 6
        });
        assert_eq!(world.seinpaal(&["run", "-n", "a", "true"]).code, 75);
        end(process);
        until_free(&world);
    }
}

#[test]
fn a_script_may_name_itself_and_nobody_who_reads_what_it_prints_waits_for_the_keeper() {
    for world in both() {
        let script = "t=$($SEINPAAL acquire a --while-pid $$ 2>&1); $SEINPAAL renew a $t && echo held; kill -9 $$";
        let mut command = world.shell_command(script);
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "held\n");
        until_free(&world);
    }
}

#[test]
fn json_tells_of_the_permits_and_names_no_end() {
    for world in both() {
        let process = process();
        let told = keep(&world, &process, &["--json", "-j", "3", "-p", "2"]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(
            (&told["name"], &told["permits"], &told["limit"]),
            (&"a".into(), &2.into(), &3.into())
        );
        assert_eq!(told["slots"], serde_json::json!([0, 1]));
        assert!(told["valid_for_ms"].is_null() && told["fence"].as_u64().unwrap() > 0, "{told}");
        end(process);
        until_free(&world);
    }
}

#[test]
fn released_permits_go_back_and_the_process_is_left_alone() {
    for world in both() {
        let process = process();
        let ticket = keep(&world, &process, &["--on-lost", "kill"]);
        assert_eq!(world.seinpaal(&["release", "a", &ticket]).code, 0);
        assert_eq!(world.show("a")["permits_held"], 0);
        let done = world.seinpaal(&["renew", "a", &ticket]);
        assert_eq!(done.code, 122, "{done:?}");
        assert!(lives(process.id()));
        end(process);
    }
}

#[test]
fn a_process_whose_permit_is_lost_gets_the_signal_that_was_asked_for() {
    use std::os::unix::process::ExitStatusExt;
    for world in both() {
        for (action, signal) in [("term", 15), ("kill", 9)] {
            let mut process = process();
            let ticket = keep(&world, &process, &["--on-lost", action]);
            assert_eq!(world.seinpaal(&["evict", "a", &ticket]).code, 0);
            assert_eq!(process.wait().unwrap().signal(), Some(signal));
        }
    }
}

/// A library that makes a watcher begin only once the file `go` exists.
const LATE: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void begin_late(int count, char **words) {
    if (count < 2 || strcmp(words[1], "--watcher")) return;
    FILE *began = fopen("began.new", "w");
    fprintf(began, "%d\n", getpid());
    fclose(began);
    rename("began.new", "began");
    while (access("go", F_OK)) usleep(1000);
}
"#;

/// Longer than a keeper would wait before it takes the watcher for stuck. If this is too short, the
/// test finds fewer mistakes.
const LATENESS: Duration = Duration::from_secs(3);

fn is_to_hear_of_term(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap();
    u64::from_str_radix(pending.trim(), 16).unwrap() & (1 << 14) != 0
}

#[test]
fn a_watcher_that_begins_late_still_tells_its_process_of_a_loss() {
    use std::os::unix::process::ExitStatusExt;
    for world in both() {
        let late = world.library("late", LATE);
        let mut process = process();
        let pid = process.id().to_string();
        let mut keep = world.command(&["acquire", "a", "--while-pid", &pid, "--on-lost", "term"]);
        let kept = keep.env("LD_PRELOAD", late).output().unwrap();
        let ticket = String::from_utf8(kept.stdout).unwrap();
        let watcher = until_written(&world.path("began"));
        assert_eq!(world.seinpaal(&["evict", "a", ticket.trim_end()]).code, 0);
        until("the watcher is told", || is_to_hear_of_term(watcher.trim_end()));
        thread::sleep(LATENESS);
        assert!(lives(watcher.trim_end().parse().unwrap()), "nobody is left to tell the process");
        fs::write(world.path("go"), "").unwrap();
        assert_eq!(process.wait().unwrap().signal(), Some(15));
    }
}

#[test]
fn a_keeper_that_does_not_get_in_ends_as_acquire_does() {
    for world in both() {
        let process = process();
        keep(&world, &process, &[]);
        let pid = process.id().to_string();
        let done = world.seinpaal(&["acquire", "a", "-n", "-E", "9", "--while-pid", &pid]);
        assert_eq!(
            (done.code, done.out.as_str(), done.err.lines().count()),
            (9, "", 1),
            "{done:?}"
        );
        let done = world.seinpaal(&["acquire", "a", "-j", "2", "-n", "--while-pid", &pid]);
        assert_eq!((done.code, done.out.as_str()), (78, ""), "{done:?}");
        end(process);
    }
}

#[test]
fn a_signal_ends_the_waiting_and_the_keeper_leaves_the_line() {
    for world in both() {
        let process = process();
        keep(&world, &process, &[]);
        let pid = process.id().to_string();
        let mut waiting = world.command(&["acquire", "a", "--while-pid", &pid]);
        let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        world.until_waiting("a", 1);
        kill("TERM", waiting.id());
        let output = waiting.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(128 + 15), "{output:?}");
        world.until_waiting("a", 0);
        end(process);
    }
}

#[test]
fn tstp_stops_the_waiting_and_cont_lets_it_go_on() {
    let world = World::embedded();
    let (first, second) = (process(), process());
    keep(&world, &first, &[]);
    let pid = second.id().to_string();
    let mut waiting = world.command(&["acquire", "a", "--while-pid", &pid]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    world.until_waiting("a", 1);
    kill("TSTP", waiting.id());
    let stat = format!("/proc/{}/stat", waiting.id());
    until("it is stopped", || fs::read_to_string(&stat).unwrap().contains(") T "));
    kill("CONT", waiting.id());
    end(first);
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.len() == 33, "{output:?}");
    end(second);
}

#[test]
fn if_acquire_is_killed_before_it_has_told_the_ticket_nobody_keeps_the_permits() {
    for world in both() {
        let (first, second) = (process(), process());
        keep(&world, &first, &[]);
        let pid = second.id().to_string();
        let mut waiting = world.command(&["acquire", "a", "--while-pid", &pid]);
        let mut waiting = waiting.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        world.until_waiting("a", 1);
        waiting.kill().unwrap();
        waiting.wait().unwrap();
        end(first);
        until("the keeper has had its turn and gone", || {
            let shown = world.show("a");
            shown["permits_held"] == 0 && shown["waiters"].as_array().unwrap().is_empty()
        });
        end(second);
    }
}

#[test]
fn a_keeper_that_is_killed_on_one_machine_leaves_the_permit_to_the_process() {
    let world = World::embedded();
    let process = process();
    keep(&world, &process, &[]);
    let keeper = world.show("a")["holders"][0]["pid"].as_u64().unwrap();
    let keeper = u32::try_from(keeper).unwrap();
    kill("KILL", keeper);
    until("the keeper is gone", || !lives(keeper));
    assert_eq!(world.seinpaal(&["run", "-n", "a", "true"]).code, 75);
    end(process);
    until_free(&world);
}

#[test]
fn a_process_that_is_not_there_and_one_that_cannot_be_are_64() {
    let world = World::embedded();
    let mut gone = process();
    gone.kill().unwrap();
    gone.wait().unwrap();
    for pid in [gone.id().to_string(), "0".to_owned(), "-1".to_owned(), "x".to_owned()] {
        let done = world.seinpaal(&["acquire", "a", "--while-pid", &pid]);
        assert_eq!((done.code, done.out.as_str()), (64, ""), "{pid}: {done:?}");
    }
    let done = world.seinpaal(&["acquire", "a", "--on-lost", "term"]);
    assert_eq!(done.code, 64, "{done:?}");
}
