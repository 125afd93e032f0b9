//! Tests with outlets that accept nothing: a full pipe that nobody reads. Messages never delay a
//! holder.

use std::process::{Child, Stdio};

use super::support::{Held, World, both, full_pipe, lives, until};

/// Waits for the end of a program whose output nobody reads.
fn status(child: &mut Child) -> i32 {
    let pid = child.id();
    until("it ends although nobody reads", || !lives(pid));
    child.wait().unwrap().code().unwrap()
}

/// The outlets that nobody reads: the messages of `-v`, and the events of `--events`.
const UNREAD: [&str; 2] = ["-v", "--events 5 5>&2 2>/dev/null"];

#[test]
fn a_run_gets_in_holds_and_ends_although_nobody_reads_what_it_tells() {
    for world in both() {
        for unread in UNREAD {
            let (reader, writer) = full_pipe();
            let script = format!("$SEINPAAL run a {unread} -- sh -c 'echo in >in; exit 3'");
            let mut run = world.shell_command(&script).stderr(writer).spawn().unwrap();
            assert_eq!(status(&mut run), 3, "{unread}");
            assert_eq!(std::fs::read_to_string(world.path("in")).unwrap(), "in\n");
            assert_eq!(world.show("a")["permits_held"], 0, "{unread}");
            std::fs::remove_file(world.path("in")).unwrap();
            drop(reader);
        }
    }
}

#[test]
fn a_run_waits_and_gets_in_although_nobody_reads_what_it_tells() {
    for world in both() {
        for unread in UNREAD {
            let (held, _) = Held::hold(&world, &["a"]);
            let (reader, writer) = full_pipe();
            let script = format!("$SEINPAAL run a {unread} -- sh -c 'exit 3'");
            let mut run = world.shell_command(&script).stderr(writer).spawn().unwrap();
            world.until_waiting("a", 1);
            assert_eq!(held.let_go().code, 0);
            assert_eq!(status(&mut run), 3, "{unread}");
            drop(reader);
        }
    }
}

#[test]
fn a_lease_is_renewed_although_nobody_reads_what_it_tells() {
    let world = World::redis();
    for unread in UNREAD {
        let (reader, writer) = full_pipe();
        let script =
            format!("$SEINPAAL run a --ttl 3s {unread} -- sh -c 'echo $$; read x; exit 3'");
        let mut command = world.shell_command(&script);
        let mut run =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(writer).spawn().unwrap();
        until("it has held for more than two ttls", || {
            world.show("a")["holders"][0]["held_ms"].as_u64().is_some_and(|held| held > 7000)
        });
        drop(run.stdin.take());
        assert_eq!(status(&mut run), 3, "{unread}");
        drop(reader);
    }
}

#[test]
fn a_worker_works_although_nobody_reads_what_it_says() {
    for world in both() {
        world.push("q", "x");
        let (reader, writer) = full_pipe();
        let script = "$SEINPAAL queue work q -v --until-empty -- cat >/dev/null";
        let mut work = world.shell_command(script).stderr(writer).spawn().unwrap();
        assert_eq!(status(&mut work), 0);
        drop(reader);
    }
}
