//! Tests of `top`, on a real pseudo-terminal and without a terminal.

use std::fs;

use super::support::{Held, World, both, kill, screen::Screen, until, until_written};

const ENTERED: &str = "\x1b[?1049h";
const LEFT: &str = "\x1b[?1049l";

/// Starts `top` in a script that reads the settings of the terminal before and after.
fn watched(world: &World, options: &str) -> Screen {
    let script = format!(
        "trap : INT; stty -g >before; sh -c 'echo $$ >pid; exec $SEINPAAL top --interval 100ms {options}'; \
         echo status $?; stty -g >after"
    );
    Screen::start(world, &["sh", "-c", &script])
}

/// Checks that `top` ended with this status, and left the terminal unchanged.
fn ended(world: &World, screen: &mut Screen, status: &str) {
    screen.until_shown(&format!("status {status}"));
    screen.end();
    let read = |name| fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(read("before"), read("after"));
    let shown = screen.shown();
    assert_eq!(shown.matches(ENTERED).count(), shown.matches(LEFT).count());
    let (_, after) = shown.rsplit_once(LEFT).unwrap();
    assert_eq!(after, format!("status {status}\r\n"), "nothing is drawn after it has left");
    assert!(shown.contains("\x1b[?25l") && shown.contains("\x1b[?25h"), "the cursor is back");
}

#[test]
fn it_draws_follows_what_changes_and_leaves_on_q() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["first", "-j", "3"]);
        let mut screen = watched(&world, "");
        screen.until_shown("1 name, 0 waiting");
        screen.until_shown("1/3");
        let (other, _) = Held::hold(&world, &["構築"]);
        screen.until_shown("2 names");
        screen.until_shown("構築");
        held.let_go();
        until("the first is gone", || {
            let rows = screen.rows();
            rows.contains("構築") && !rows.contains("first")
        });
        screen.typed("q");
        ended(&world, &mut screen, "0");
        other.let_go();
    }
}

#[test]
fn a_name_that_is_opened_shows_who_holds_and_why_somebody_waits() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a", "--label", "job=42"]);
        let mut waiter = Held::start(world.command(&["run", "a", "true"]));
        world.until_waiting("a", 1);
        let mut screen = watched(&world, "");
        screen.until_shown("1 waiting");
        screen.typed("\r");
        screen.until_shown("job=42");
        screen.until_shown("1st of 1 in line");
        screen.until_shown("estimate: ");
        held.let_go();
        screen.until_shown("nobody waits");
        screen.typed("\x1b[D");
        screen.until_shown("nothing is held or waited for");
        screen.typed("q");
        ended(&world, &mut screen, "0");
        assert_eq!(waiter.end().code, 0);
    }
}

#[test]
fn an_action_is_asked_again_and_done_on_y_only() {
    for world in both() {
        let (mut held, _) = Held::hold(&world, &["a"]);
        let mut screen = watched(&world, "");
        screen.until_shown("1 name");
        screen.typed("\r");
        screen.until_shown("HOLDER");
        let shown = world.show("a")["holders"][0]["ticket"].to_string();
        screen.until_shown(&shown[1..9]); // the row that the action is about, not only its heading
        screen.typed("ae");
        screen.until_shown("stops");
        screen.typed("n");
        screen.typed("ap");
        screen.until_shown("reason, shown to people");
        screen.typed("moving house\ry");
        screen.until_shown("a: paused");
        assert_eq!(world.show("a")["permits_held"], 1, "an unconfirmed action was not done");
        screen.until_shown("paused (moving house)");
        screen.typed("aey");
        screen.until_shown("a: evicted");
        assert_eq!(held.end().code, 122);
        screen.typed("q");
        ended(&world, &mut screen, "0");
    }
}

#[test]
fn slots_and_wishes_are_shown_by_name() {
    for world in both() {
        assert_eq!(world.seinpaal(&["limit", "boards", "--slots", "GPU-0,board-b"]).code, 0);
        let (held, _) = Held::hold(&world, &["boards", "--slot", "board-b"]);
        let mut screen = watched(&world, "");
        screen.until_shown("1/2");
        screen.typed("\r");
        screen.until_shown("SLOTS    WHO");
        screen.until_shown("board-b");
        let mut waiter =
            Held::start(world.command(&["run", "boards", "--slot", "board-b", "true"]));
        world.until_waiting("boards", 1);
        until("the waiter's wish is there, too", || {
            screen.rows().matches("board-b  ").count() == 2
        });
        held.let_go();
        assert_eq!(waiter.end().code, 0);
        screen.typed("q");
        ended(&world, &mut screen, "0");
    }
}

#[test]
fn queues_are_shown_and_their_dead_letters_replayed() {
    for world in both() {
        world.seinpaal(&["queue", "push", "mails", "--deliveries", "1", "x"]);
        assert_eq!(world.work("mails", "exit 1").code, 0);
        let mut screen = watched(&world, "");
        screen.until_shown("names");
        screen.typed("\t");
        screen.until_shown("1 queue");
        screen.typed("\r");
        screen.until_shown("exit status 1");
        screen.typed("aty");
        screen.until_shown("mails: replayed");
        screen.until_shown("mails: 1 ready");
        screen.typed("ax");
        screen.until_shown("to confirm");
        screen.typed("mail\r");
        assert_eq!(world.queue("mails")["ready"], 1, "the name has to be typed");
        screen.typed("axmails\r");
        screen.until_shown("mails: purged 1");
        screen.typed("q");
        ended(&world, &mut screen, "0");
    }
}

#[test]
fn names_are_found_as_one_types() {
    let world = World::redis();
    for name in ["team/one", "team/two", "other"] {
        assert_eq!(world.seinpaal(&["limit", name, "2"]).code, 0);
    }
    let mut screen = watched(&world, "");
    screen.until_shown("3 names");
    screen.typed("/TWO\r");
    screen.until_shown("with \"TWO\"");
    screen.typed("al5\ry");
    screen.until_shown("team/two: the limit is 5");
    assert_eq!(world.seinpaal(&["limit", "team/two"]).out, "5\n");
    screen.typed("q");
    ended(&world, &mut screen, "0");
}

#[test]
fn int_and_term_give_the_terminal_back() {
    let world = World::embedded();
    let mut screen = watched(&world, "");
    screen.until_shown("nothing is held or waited for");
    screen.typed("\x03");
    ended(&world, &mut screen, "130");
    for (signal, status) in [("TERM", "143"), ("QUIT", "131")] {
        let world = World::embedded();
        let mut screen = watched(&world, "");
        screen.until_shown("nothing is held or waited for");
        kill(signal, until_written(&world.path("pid")).trim().parse().unwrap());
        ended(&world, &mut screen, status);
    }
}

#[test]
fn control_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let world = World::embedded();
    let mut screen = Screen::start(&world, &["bash", "--norc", "-i"]);
    screen.typed("PS1='ready> '; stty -g >before; $SEINPAAL top --interval 100ms\n");
    screen.until_shown("nothing is held or waited for");
    screen.typed("\x1a");
    screen.until_shown("Stopped");
    screen.typed("stty -g >after; echo shell $((40+2))\n");
    screen.until_shown("shell 42");
    screen.typed("fg\n");
    until("it draws again", || screen.shown().matches(ENTERED).count() == 2);
    screen.typed("q");
    until("it has left again", || screen.shown().matches(LEFT).count() == 2);
    // Until the process of `top` has ended, it may still read the keys itself.
    let is_back =
        |shown: &str| shown.rsplit(LEFT).next().is_some_and(|then| then.contains("ready> "));
    until("the shell is back", || is_back(&screen.shown()));
    screen.typed("echo status $?; exit\n");
    screen.until_shown("status 0");
    screen.end();
    assert_ne!(until_written(&world.path("before")), "");
    assert_eq!(until_written(&world.path("before")), until_written(&world.path("after")));
}

#[test]
fn a_store_that_falls_silent_is_told_of_and_asked_on() {
    let world = World::redis();
    let (held, _) = Held::hold(&world, &["a", "--ttl", "1h"]);
    let mut screen = watched(&world, "");
    screen.until_shown("1/1");
    let redis = world.redis.as_ref().unwrap();
    redis.pause();
    screen.until_shown("store unreachable for");
    redis.resume();
    until("it is heard again", || {
        let rows = screen.rows();
        rows.contains("1/1") && !rows.contains("unreachable")
    });
    redis.pause();
    until("it is silent again", || screen.rows().contains("unreachable"));
    screen.typed("q");
    ended(&world, &mut screen, "0");
    redis.resume();
    held.let_go();
}

#[test]
fn without_a_terminal_or_with_once_it_prints_one_table() {
    for world in both() {
        let (one, _) = Held::hold(&world, &["a", "-j", "3"]);
        let (two, _) = Held::hold(&world, &["b", "-j", "3", "-p", "2"]);
        let done = world.seinpaal(&["top", "--sort", "held"]);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        let names: Vec<_> = done.out.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(names, ["NAME", "b", "a"]);
        let json = world.seinpaal(&["top", "--json", "--sort", "name"]).out;
        assert_eq!(json, world.seinpaal(&["list", "--json"]).out);
        let mut screen = Screen::start(&world, &["sh", "-c", "$SEINPAAL top --once b"]);
        screen.until_shown("2/3");
        assert_eq!(screen.end(), 0);
        assert!(!screen.shown().contains(ENTERED) && !screen.shown().contains("1/3"));
        one.let_go();
        two.let_go();
    }
}

#[test]
fn bad_values_are_64_and_a_store_that_cannot_be_reached_is_69_before_anything_is_drawn() {
    let world = World::embedded();
    for args in [["top", "--interval", "1ms"], ["top", "--interval", "2h"], ["top", "--sort", "x"]]
    {
        let done = world.seinpaal(&args);
        assert_eq!((done.code, done.err.lines().count()), (64, 1), "{done:?}");
    }
    let missing = format!("unix://{}/none.sock", world.root().display());
    let script = format!("$SEINPAAL top --store {missing}; echo status $?");
    let mut screen = Screen::start(&world, &["sh", "-c", &script]);
    screen.until_shown("status 69");
    screen.end();
    assert!(!screen.shown().contains(ENTERED));
}
