//! Tests of tickets, whole and in short.

use super::support::{World, both};

fn acquire(world: &World, name: &str) -> String {
    let done = world.seinpaal(&["acquire", name, "-j", "64", "--ttl", "1h"]);
    assert_eq!(done.code, 0, "{done:?}");
    done.out.trim_end().to_owned()
}

#[test]
fn a_ticket_may_be_shortened_to_what_no_other_begins_with() {
    for world in both() {
        let ticket = acquire(&world, "a");
        for command in ["renew", "release"] {
            let done = world.seinpaal(&[command, "a", &ticket[..6]]);
            assert_eq!((done.code, done.err.as_str()), (0, ""), "{command}");
        }
        let ticket = acquire(&world, "a").to_uppercase();
        assert_eq!(world.seinpaal(&["evict", "a", &ticket[..8]]).code, 0);
        assert_eq!(world.show("a")["permits_held"], 0);
    }
}

#[test]
fn a_ticket_that_is_too_short_or_of_nobody_changes_nothing() {
    for world in both() {
        // There are 16 digits, so two of 17 tickets begin with the same one.
        let mut tickets = (0..17).map(|_| acquire(&world, "a")).collect::<Vec<_>>();
        tickets.sort();
        let pair = tickets.windows(2).find(|pair| pair[0][..1] == pair[1][..1]).unwrap();
        let unused =
            format!("{:x}", (0..16).find(|d| !pair[0].starts_with(&format!("{d:x}"))).unwrap());
        for command in ["renew", "release", "evict"] {
            let done = world.seinpaal(&[command, "a", &pair[0][..1]]);
            assert_eq!((done.code, done.err.lines().count()), (64, 1), "{done:?}");
            assert!(
                done.err.contains("begin with") && done.err.contains("more digits"),
                "{done:?}"
            );
            let done = world.seinpaal(&[command, "b", &unused]);
            assert_eq!((done.code, done.err.lines().count()), (122, 1), "{done:?}");
            assert!(done.err.contains("seinpaal show"), "{done:?}");
        }
        assert_eq!(world.show("a")["permits_held"], 17);
    }
}
