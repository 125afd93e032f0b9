//! Tests of `bench`.

use super::support::{Held, both};

#[test]
fn it_prints_a_row_for_each_measurement_and_leaves_no_name_behind() {
    for world in both() {
        let done = world.seinpaal(&["bench", "--seconds", "1"]);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
        assert_eq!(done.out.lines().count(), 6, "{done:?}");
        assert!(done.out.lines().next().unwrap().contains("PAIRS/S"), "{done:?}");
        assert_eq!(world.seinpaal(&["list", "--json"]).out, "");
    }
}

#[test]
fn with_json_each_row_is_an_object_with_what_was_counted() {
    for world in both() {
        let done = world.seinpaal(&["bench", "--seconds", "1", "--json"]);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
        let rows: Vec<serde_json::Value> =
            done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let shape: Vec<_> =
            rows.iter().map(|row| (row["tasks"].as_u64(), row["names"].as_u64())).collect();
        let wanted = [(1, 1), (64, 1), (1, 64), (64, 64), (2, 1)].map(|(t, n)| (Some(t), Some(n)));
        assert_eq!(shape, wanted);
        for row in &rows {
            let (p50, p99, max) =
                (row["p50_us"].as_u64(), row["p99_us"].as_u64(), row["max_us"].as_u64());
            assert!(p50.is_some() && p50 <= p99 && p99 <= max, "{row}");
            assert!(row["pairs_per_second"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
}

#[test]
fn a_signal_ends_it_and_it_leaves_no_name_behind() {
    for world in both() {
        for (signal, status) in [("INT", 130), ("TERM", 143)] {
            let mut bench = Held::start(world.command(&["bench", "--seconds", "600"]));
            assert!(bench.line().contains("PAIRS/S"));
            super::support::until("it works", || {
                !world.seinpaal(&["list", "--json"]).out.is_empty()
            });
            bench.signal(signal);
            let done = bench.end();
            assert_eq!((done.code, done.err.lines().count()), (status, 1), "{done:?}");
            assert_eq!(world.seinpaal(&["list", "--json"]).out, "");
        }
    }
}

#[test]
fn what_others_hold_is_let_alone() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        assert_eq!(world.seinpaal(&["bench", "--seconds", "1"]).code, 0);
        assert_eq!(world.show("a")["permits_held"], 1);
        assert_eq!(held.let_go().code, 0);
    }
}
