//! Tests of the streams: CMD's inheritance, and the places of our output.

use std::{io::Write, os::unix::process::CommandExt, process::Stdio};

use super::support::{Held, World, both, full_pipe, kill, until};

#[test]
fn stdin_stdout_and_stderr_are_cmds_own() {
    let world = World::embedded();
    let mut held = Held::start(world.command(&["run", "a", "sh", "-c", "cat; echo oops >&2"]));
    held.stdin.take().unwrap().write_all(b"\0binary\xff").unwrap();
    let mut out = Vec::new();
    std::io::Read::read_to_end(&mut held.stdout, &mut out).unwrap();
    assert_eq!(out, b"\0binary\xff");
    assert_eq!(held.end().err, "oops\n");
}

#[test]
fn everything_from_cmd_on_belongs_to_cmd() {
    let world = World::embedded();
    let args = ["run", "a", "-j", "2", "printf", "%s,", "-n", "--json", "-x", "--", "-j", "3"];
    assert_eq!(world.seinpaal(&args).out, "-n,--json,-x,--,-j,3,");
    let args = ["run", "-j", "2", "a", "--", "printf", "%s,", "-n", "--", "x"];
    assert_eq!(world.seinpaal(&args).out, "-n,--,x,");
}

#[test]
fn cmd_learns_what_it_holds_and_keeps_its_environment() {
    let world = World::embedded();
    let script = "echo $SEINPAAL_NAME/$SEINPAAL_SLOT/$SEINPAAL_SLOTS/$SEINPAAL_PERMITS/$SEINPAAL_LIMIT; \
                  echo $SEINPAAL_FENCE $SEINPAAL_TICKET $MINE; pwd";
    let mut command = world.command(&["run", "a {b}", "-j", "4", "-p", "3", "sh", "-c", script]);
    let out = String::from_utf8(command.env("MINE", "kept").output().unwrap().stdout).unwrap();
    let lines = out.lines().collect::<Vec<_>>();
    assert_eq!(lines[0], "a {b}/0/0,1,2/3/4");
    let words = lines[1].split(' ').collect::<Vec<_>>();
    assert!(words[0].parse::<u64>().unwrap() > 0);
    assert_eq!((words[1].len(), words[2]), (32, "kept"));
    assert_eq!(lines[2], world.root().to_str().unwrap());
}

#[test]
fn two_holders_have_different_slots_and_growing_fences() {
    let world = World::embedded();
    let script = "echo $$; echo $SEINPAAL_SLOT; echo $SEINPAAL_FENCE; exec cat >/dev/null";
    let (mut one, _) = Held::run(&world, &["a", "-j", "2"], script);
    let (mut two, _) = Held::run(&world, &["a", "-j", "2"], script);
    assert_eq!((one.line(), two.line()), ("0".to_owned(), "1".to_owned()));
    assert!(one.line().parse::<u64>().unwrap() < two.line().parse::<u64>().unwrap());
    one.let_go();
    two.let_go();
}

#[test]
fn nothing_is_printed_on_success() {
    let world = World::embedded();
    let done = world.seinpaal(&["run", "a", "true"]);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
}

#[test]
fn nothing_is_printed_while_waiting_without_a_terminal() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut waiter = Held::start(world.command(&["run", "a", "true"]));
    world.until_waiting("a", 1);
    held.let_go();
    let done = waiter.end();
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
}

#[test]
fn explaining_goes_to_stderr() {
    let world = World::embedded();
    let done = world.seinpaal(&["run", "-v", "a", "echo", "data"]);
    assert_eq!(done.out, "data\n");
    assert!(done.err.contains("a: got slot 0 of 1 after "), "{done:?}");
    assert!(done.err.lines().all(|line| line.starts_with("seinpaal: ")), "{done:?}");
}

#[test]
fn cmd_starts_with_plain_signals() {
    for world in [World::embedded(), World::redis()] {
        let args = ["run", "a", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"];
        for line in world.seinpaal(&args).out.lines() {
            let bits = u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap();
            // Signals 32 and 33 are the C library's own.
            assert_eq!(bits & 0x7fff_ffff, 0, "{line}");
        }
    }
    let world = World::embedded();
    // `yes` must die by SIGPIPE, and not report an error.
    let done = world.shell("$SEINPAAL run a sh -c 'yes; echo $? >&2' | head -n 1");
    assert_eq!((done.out.as_str(), done.err.as_str()), ("y\n", "141\n"));
}

#[test]
fn what_the_caller_ignores_cmd_ignores_and_so_do_we() {
    let world = World::embedded();
    let done = world.shell("trap '' HUP; $SEINPAAL run a sh -c 'kill -HUP $PPID $$; echo alive'");
    assert_eq!((done.code, done.out.as_str()), (0, "alive\n"));
}

#[test]
fn cmd_inherits_no_descriptor_of_ours_but_the_sign_of_life() {
    for (world, most) in [(World::embedded(), 2), (World::redis(), 0)] {
        let list = "ls /proc/self/fd | wc -l";
        let bare: i32 = world.shell(list).out.trim().parse().unwrap();
        let ours: i32 = world.seinpaal(&["run", "a", "sh", "-c", list]).out.trim().parse().unwrap();
        assert!(ours <= bare + most, "{ours} instead of {bare}");
    }
}

#[test]
fn cmd_leads_a_group_of_its_own_under_the_name_it_was_given() {
    let world = World::embedded();
    let script = "echo $$ $(cut -d' ' -f5 /proc/$$/stat)";
    let out = world.seinpaal(&["run", "a", "sh", "-c", script]).out;
    let (pid, group) = out.trim().split_once(' ').unwrap();
    assert_eq!(pid, group);
    let mut link = world.command(&["run", "a", "sh", "-c", "echo $0"]);
    assert_eq!(String::from_utf8(link.arg0("other").output().unwrap().stdout).unwrap(), "sh\n");
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    let world = World::embedded();
    let done = world.shell("$SEINPAAL --help | head -n 1; $SEINPAAL list >/dev/full; echo $?");
    assert!(!done.err.contains("panic"), "{done:?}");
    let mut command = world.command(&["man"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((status.status.code(), status.stderr), (Some(141), Vec::new()));
}

#[test]
fn a_permit_whose_ticket_nobody_read_is_given_back() {
    let world = World::embedded();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = world.command(&["acquire", "a"]).stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(141));
    assert_eq!(world.show("a")["permits_held"], 0);
}

#[test]
fn data_that_cannot_be_written_is_never_taken_for_written() {
    for world in both() {
        world.seinpaal(&["limit", "b", "2"]);
        world.push("q", "x");
        for redirection in [">&-", ">/dev/full"] {
            for command in [
                "acquire a",
                "acquire a --json",
                "list",
                "list --json",
                "show a",
                "show a --json",
                "limit a",
                "queue push q x",
                "queue show q",
                "queue list",
                "queue limit q",
                "completions bash",
                "man",
                "--help",
            ] {
                let done = world.shell(&format!("$SEINPAAL {command} {redirection}"));
                assert_eq!(done.code, 70, "{command} {redirection}: {done:?}");
                assert_eq!(done.err.lines().count(), 1, "{command} {redirection}: {done:?}");
                assert!(done.err.contains("cannot write"), "{command} {redirection}: {done:?}");
            }
            assert_eq!(world.show("a")["permits_held"], 0, "nobody has the ticket");
        }
    }
}

#[test]
fn a_ticket_that_nobody_reads_does_not_keep_acquire_from_being_ended() {
    let world = World::embedded();
    let (reader, writer) = full_pipe();
    let mut acquire = world.command(&["acquire", "a"]).stdout(writer).spawn().unwrap();
    until("it holds", || world.show("a")["permits_held"] == 1);
    kill("TERM", acquire.id());
    assert_eq!(acquire.wait().unwrap().code(), Some(143));
    assert_eq!(world.show("a")["permits_held"], 0);
    drop(reader);
}

#[test]
fn quiet_is_silent_also_about_failures() {
    let world = World::embedded();
    let done = world.seinpaal(&["-q", "run", "a", "no-such-command"]);
    assert_eq!((done.code, done.err.as_str()), (127, ""));
}
