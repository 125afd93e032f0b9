//! Tests of tables: they fit their room, and their tickets can be typed.

use super::support::{Held, World, both, screen::Screen};

/// Starts a holder with a long label, and a waiter.
fn people(world: &World) -> (Held, Held) {
    let label = "job=a-label-that-is-much-longer-than-what-is-left-of-a-line";
    let (held, _) = Held::hold(world, &["team/service/a", "-j", "1", "--label", label]);
    let waiter = Held::start(world.command(&["run", "team/service/a", "--label", label, "true"]));
    world.until_waiting("team/service/a", 1);
    (held, waiter)
}

/// Returns the first word of the row below this head.
fn first_below(table: &str, head: &str) -> String {
    let row = table.lines().skip_while(|line| !line.starts_with(head)).nth(1);
    row.unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_table_has_at_most_80_columns_and_shows_tickets_that_every_command_takes() {
    for world in both() {
        let (held, mut waiter) = people(&world);
        let shown = world.seinpaal(&["show", "team/service/a"]).out;
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        let (holder, waits) = (first_below(&shown, "HOLDER"), first_below(&shown, "WAITER"));
        assert!(holder.len() <= 12 && waits.len() <= 12, "{shown}");
        let why = world.seinpaal(&["show", "team/service/a", "--why", &waits]);
        assert!(why.code == 0 && why.out.starts_with(&waits), "{why:?}");
        assert_eq!(world.seinpaal(&["renew", "team/service/a", &holder]).code, 0);
        assert_eq!(world.seinpaal(&["evict", "team/service/a", &waits]).code, 0);
        assert_eq!(waiter.end().code, 75);
        assert_eq!(world.seinpaal(&["evict", "team/service/a", &holder]).code, 0);
        drop(held);
    }
}

#[test]
fn wide_shows_all_columns_and_whole_tickets_and_json_is_whole_anyway() {
    let world = World::redis();
    let (held, waiter) = people(&world);
    let shown = world.seinpaal(&["show", "team/service/a", "--wide"]).out;
    let ticket = first_below(&shown, "HOLDER");
    assert_eq!(ticket.len(), 32, "{shown}");
    for head in ["FENCE", "CLIENT", "PRIORITY", "than-what-is-left-of-a-line"] {
        assert!(shown.contains(head), "{head}: {shown}");
    }
    assert_eq!(world.show("team/service/a")["holders"][0]["ticket"], ticket.as_str());
    drop((held, waiter));
}

#[test]
fn a_table_is_as_wide_as_the_terminal_or_as_columns_says() {
    let world = World::redis();
    let (held, waiter) = people(&world);
    let widest = |script: &str| {
        let mut screen = Screen::start(&world, &["sh", "-c", script]);
        assert_eq!(screen.end(), 0);
        screen.until_shown("HELD");
        let shown = screen.shown().replace("\x1b[1m", "").replace("\x1b[0m", "");
        shown.lines().map(|line| line.trim_end().chars().count()).max().unwrap()
    };
    assert!(
        widest("stty cols 40; $SEINPAAL list; $SEINPAAL show team/service/a | tail -n +2") <= 80
    );
    assert!(widest("stty cols 30; $SEINPAAL list") <= 30);
    let with = |columns: &str| {
        let mut command = world.command(&["show", "team/service/a"]);
        let out = command.env("COLUMNS", columns).output().unwrap().stdout;
        let text = String::from_utf8(out).unwrap();
        text.lines().skip(1).map(|line| line.chars().count()).max().unwrap()
    };
    assert!(with("50") <= 50 && with("50") > 40);
    assert!(with("200") > 100);
    assert!(with("nonsense") <= 80);
    drop((held, waiter));
}

#[test]
fn one_long_name_takes_no_column_from_the_others() {
    let world = World::embedded();
    let long = "x".repeat(120);
    for name in [long.as_str(), "a"] {
        assert_eq!(world.seinpaal(&["pause", name]).code, 0);
    }
    let listed = world.seinpaal(&["list"]).out;
    assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
    assert_eq!(listed.matches("paused").count(), 2, "{listed}");
    assert!(world.seinpaal(&["list", "--wide"]).out.contains(&long));
}

#[test]
fn the_tables_of_queues_fit_too() {
    for world in both() {
        let payload = "a payload that goes on and on and on and on and on and on and on";
        let pushed = world.seinpaal(&["queue", "push", "queue", "--deliveries", "1", payload]);
        assert_eq!(pushed.code, 0, "{pushed:?}");
        assert_eq!(world.work("queue", "exit 1").code, 0);
        let pushed = world.seinpaal(&["queue", "push", "queue", "--delay", "1h", payload]);
        assert_eq!(pushed.code, 0, "{pushed:?}");
        for args in [
            &["queue", "list"][..],
            &["queue", "dead", "queue"],
            &["queue", "items", "queue"],
            &["queue", "show", "queue"],
        ] {
            let done = world.seinpaal(args);
            assert_eq!(done.code, 0, "{done:?}");
            assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
            assert_eq!(world.seinpaal(&[args, &["--wide"]].concat()).code, 0);
        }
        let wide = world.seinpaal(&["queue", "dead", "queue", "--wide"]).out;
        assert!(wide.contains("DELIVERIES"), "{wide}");
    }
}
