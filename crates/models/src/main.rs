//! Explores the models and prints what was found.
use seinpaal_models::{bounds::Bounds, explore::explore};

fn main() {
    let n = |i: usize, d: usize| std::env::args().nth(i).map_or(d, |a| a.parse().unwrap());
    let bounds = Bounds {
        faults: n(1, 0) as u8,
        wishes: n(2, 1) as u8,
        at_once: n(3, 1),
        clients: n(4, 2),
        limit: n(5, 1) as u32,
        quiet_one_in: n(7, 1) as u64,
        clock_steps: n(8, 0) as u8,
        ..Bounds::BASE
    };
    let report = explore(&bounds, 2, n(6, 2_000_000));
    println!("{report:#?}");
}
