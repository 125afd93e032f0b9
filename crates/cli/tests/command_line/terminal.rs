//! Tests on a terminal: a real pseudo-terminal, and a real shell with job control.

use super::support::{
    Held, World, lives, program,
    screen::{LISTEN, Screen},
    until, until_written,
};
use super::why::one_hold_has_ended;

#[test]
fn control_c_reaches_cmd_once() {
    let world = World::embedded();
    let run = [program(), "run", "a", "sh", "-c", LISTEN];
    let mut screen = Screen::start(&world, &run);
    screen.until_shown("ready");
    screen.typed("\x03");
    screen.until_shown("INT");
    screen.typed("\x1c");
    assert_eq!(screen.end(), 3);
    assert_eq!(std::fs::read_to_string(world.path("got")).unwrap(), "INT\n");
}

#[test]
fn control_c_in_a_script_reaches_cmd_once_and_the_script_too() {
    let world = World::embedded();
    let script =
        "trap 'echo script >&2' INT; trap : QUIT; $SEINPAAL run a sh -c \"$LISTEN\"; echo left $?";
    let mut screen = Screen::start(&world, &["sh", "-c", script]);
    screen.until_shown("ready");
    screen.typed("\x03");
    screen.until_shown("INT");
    screen.typed("\x1c");
    screen.until_shown("left 3");
    screen.end();
    assert_eq!(std::fs::read_to_string(world.path("got")).unwrap(), "INT\n");
    assert_eq!(screen.shown().matches("script").count(), 1, "{}", screen.shown());
}

#[test]
fn cmd_reads_from_the_terminal_alone_and_in_a_script() {
    let world = World::embedded();
    let script = "$SEINPAAL run a sh -c 'echo ready; read x; echo got $x'; read y; echo then $y";
    let mut screen = Screen::start(&world, &["sh", "-c", script]);
    screen.until_shown("ready");
    screen.typed("one\n");
    screen.until_shown("got one");
    screen.typed("two\n");
    screen.until_shown("then two");
    screen.end();
}

#[test]
fn cmd_is_in_the_foreground_and_the_shell_gets_the_terminal_back() {
    let world = World::embedded();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    screen.typed("$SEINPAAL run a sh -c 'ps -o stat= -p $$ >state; read x; echo got $x'\n");
    let state = until_written(&world.path("state"));
    assert!(state.contains('+'), "{state}");
    screen.typed("words\n");
    screen.until_shown("got words");
    screen.typed("echo back $((40+2))\n");
    screen.until_shown("back 42");
    screen.typed("exit 6\n");
    assert_eq!(screen.end(), 6);
}

#[test]
fn control_z_stops_the_job_and_fg_brings_it_back() {
    let world = World::embedded();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    screen.typed("$SEINPAAL run a sh -c 'echo $$ >pid; while read x; do echo got $x; done'\n");
    until_written(&world.path("pid"));
    screen.typed("one\n");
    screen.until_shown("got one");
    screen.typed("\x1a");
    screen.until_shown("Stopped");
    screen.typed("echo shell $((40+2))\n");
    screen.until_shown("shell 42");
    screen.typed("fg\n");
    screen.typed("two\n");
    screen.until_shown("got two");
    screen.typed("\x1a");
    until("it is stopped again", || screen.shown().matches("Stopped").count() == 2);
    screen.typed("fg\n");
    screen.typed("three\n");
    screen.until_shown("got three");
    screen.typed("\x04");
    screen.typed("echo status $?\n");
    screen.until_shown("status 0");
    screen.typed("exit\n");
    screen.end();
}

/// This is tried several times: on a busy machine one round in ten used to hang up on CMD.
#[test]
fn fg_brings_back_a_background_job_that_asked_for_the_terminal() {
    let world = World::redis();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    for round in 0..40 {
        screen.typed(&format!(
            "$SEINPAAL run a sh -c 'echo $$ >pid{round}; read x </dev/tty; echo got $x' &\n"
        ));
        until_written(&world.path(&format!("pid{round}")));
        // The shell continues only a job that it knows to be stopped.
        screen.typed("until [ -n \"$(jobs -s)\" ]; do sleep 0.01; done; fg\n");
        screen.typed(&format!("{round}\n"));
        screen.typed(&format!("echo status{round} $?\n"));
        let status = |first| screen.shown().contains(&format!("status{round} {first}"));
        until("the job has ended", || status(0) || status(1));
        assert!(screen.shown().contains(&format!("got {round}")), "{}", screen.shown());
    }
    screen.typed("exit\n");
    screen.end();
}

#[test]
fn a_pipeline_keeps_its_terminal() {
    let world = World::embedded();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    // The reader at the end of the pipeline reads from the terminal, as a pager does.
    screen.typed("$SEINPAAL run a echo data | { read d; read k </dev/tty; echo $d and $k; }\n");
    screen.typed("key\n");
    screen.until_shown("data and key");
    screen.typed("exit\n");
    screen.end();
}

#[test]
fn waiting_on_a_terminal_shows_one_line_that_goes_away() {
    let world = World::embedded();
    one_hold_has_ended(&world, "1");
    let (held, _) = Held::hold(&world, &["a"]);
    let run = [program(), "run", "a", "echo", "in"];
    let mut screen = Screen::start(&world, &run);
    screen.until_shown("waiting for a: 1st of 1, about ");
    assert!(screen.shown().contains(&held.pid().to_string()), "{}", screen.shown());
    held.let_go();
    assert_eq!(screen.end(), 0);
    screen.until_shown("\r\x1b[Kin\r\n");
    assert!(!screen.shown().trim_end().contains('\n'), "{}", screen.shown());
}

#[test]
fn we_can_speak_while_cmd_has_the_terminal() {
    let world = World::embedded();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    // On such a terminal a background group that writes is stopped.
    screen.typed("stty tostop; $SEINPAAL run a --max-hold 50ms sleep 1000; echo status $?\n");
    screen.until_shown("as long as --max-hold allows");
    screen.until_shown("status 124");
    screen.typed("exit\n");
    screen.end();
}

#[test]
fn a_command_in_the_background_of_a_shell_draws_no_line() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    screen.typed("$SEINPAAL run a --events 5 echo in 5>events &\n");
    let place =
        || std::fs::read_to_string(world.path("events")).is_ok_and(|e| e.contains("position"));
    until("its place is known", place);
    held.let_go();
    screen.until_shown("in\r\n");
    assert!(!screen.shown().contains("waiting for"), "{}", screen.shown());
    screen.typed("exit\n");
    screen.end();
}

#[test]
fn control_c_lets_the_item_of_a_worker_finish_and_a_second_one_ends_it() {
    let world = World::embedded();
    world.push("a", "x");
    let script = "trap 'echo orderly; exit 1' TERM; echo ready; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
    let work = [program(), "queue", "work", "a", "sh", "-c", script];
    let mut screen = Screen::start(&world, &work);
    screen.until_shown("ready");
    screen.typed("\x03");
    screen.until_shown("finishing");
    assert!(!screen.shown().contains("orderly"));
    screen.typed("\x03");
    screen.until_shown("orderly");
    assert_eq!(screen.end(), 130);
}

#[test]
fn the_cmd_of_a_worker_that_wants_the_terminal_is_hung_up_on() {
    let world = World::embedded();
    world.seinpaal(&["queue", "push", "a", "x", "--deliveries", "1"]);
    let work = [program(), "queue", "work", "a", "--until-empty"];
    let mut screen =
        Screen::start(&world, &[&work[..], &["sh", "-c", "read key < /dev/tty"]].concat());
    screen.until_shown("wants the terminal");
    assert_eq!(screen.end(), 0);
    assert!(world.seinpaal(&["queue", "dead", "a"]).out.contains("killed by signal 1 "));
}

/// A script that asks for the terminal again and again, and ignores HUP.
const INSISTS: &str = "trap '' HUP; echo up >up; read key < /dev/tty";

#[test]
fn the_cmd_of_a_worker_that_insists_on_the_terminal_is_ended_and_told_of_once() {
    let world = World::embedded();
    world.seinpaal(&["queue", "push", "a", "x", "--deliveries", "1"]);
    let work = [program(), "queue", "work", "a", "--until-empty"];
    let mut screen = Screen::start(&world, &[&work[..], &["sh", "-c", INSISTS]].concat());
    screen.until_over();
    assert_eq!(screen.end(), 0);
    assert_eq!(screen.shown().matches("wants the terminal").count(), 1);
    assert!(world.seinpaal(&["queue", "dead", "a"]).out.contains("killed by signal 15 "));
}

#[test]
fn a_cmd_that_insists_on_a_terminal_that_nobody_can_give_it_is_ended_and_told_of_once() {
    let world = World::embedded();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    // The shell forgets the group at once, so nobody can bring it to the foreground.
    let run = format!("$SEINPAAL run a sh -c \"{INSISTS}\" 2>said; echo $? >status");
    screen.typed(&format!("( ({run}) & )\n"));
    assert_eq!(until_written(&world.path("status")), "143\n");
    let said = std::fs::read_to_string(world.path("said")).unwrap();
    assert_eq!(said.matches("wants the terminal").count(), 1, "{said}");
    screen.typed("exit\n");
    screen.end();
}

#[test]
fn a_guard_that_acts_while_the_job_is_stopped_is_told_of_after_fg() {
    let world = World::redis();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    screen
        .typed("$SEINPAAL run a --ttl 2s sh -c 'echo $$ >pid; exec sleep 1000'; echo status $?\n");
    let cmd = until_written(&world.path("pid")).trim().parse().unwrap();
    screen.typed("\x1a");
    screen.until_shown("Stopped");
    until("the guard has ended CMD", || !lives(cmd));
    screen.typed("fg\n");
    screen.until_shown("this seinpaal was stopped for too long");
    screen.typed("echo then $?\n");
    screen.until_shown("then 122");
    screen.typed("exit\n");
    screen.end();
}

#[test]
fn a_terminal_stopped_with_control_s_holds_nobody_up() {
    for world in [World::embedded(), World::redis()] {
        let (held, _) = Held::hold(&world, &["a"]);
        let script = "read go; exec $SEINPAAL run a sh -c 'echo in >in; exit 3'";
        let mut screen = Screen::start(&world, &["sh", "-c", script]);
        screen.typed("\x13go\n");
        world.until_waiting("a", 1);
        // This wait is long enough for the line to be drawn, which this test cannot see.
        until("it looks at the line", || {
            world.show("a")["waiters"][0]["waiting_ms"].as_u64().unwrap() > 1500
        });
        held.let_go();
        assert_eq!(until_written(&world.path("in")), "in\n");
        screen.until_over();
        assert_eq!(world.show("a")["permits_held"], 0);
        screen.typed("\x11");
        assert_eq!(screen.end(), 3);
    }
}

/// `nohup`, and shells that start a job in the background, ignore signals in this way.
#[test]
fn these_tests_do_not_go_by_the_signals_that_were_ignored_when_they_began() {
    let tests = std::env::current_exe().unwrap();
    let one = "terminal::control_c_in_a_script_reaches_cmd_once_and_the_script_too";
    let script = "trap '' HUP INT QUIT; exec \"$0\" --exact \"$1\"";
    let run = std::process::Command::new("sh").args(["-c", script]).arg(tests).arg(one).output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"), "{run:?}");
}
