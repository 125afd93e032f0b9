//! Explores the models and prints what was found.
use seinpaal_models::{bounds::{Bounds, Fault}, explore::explore, list::planted, plant::Plant, story::tell, walk::walk};

fn main() {
    let n = |i: usize, d: usize| std::env::args().nth(i).map_or(d, |a| a.parse().unwrap());
    match std::env::args().nth(1).as_deref() {
        Some("plants") => for plant in Plant::ALL {
            let bounds = planted(plant);
            let report = explore(&bounds, 1, n(2, 300_000));
            println!("{plant:?} {} {} {:?}", report.unique, report.depth, report.took);
            for (name, path) in &report.violations { println!("{name}\n{}", tell(&bounds, path)); }
        },
        Some("kinds") => for fault in [Fault::Break, Fault::Delay, Fault::Repeat, Fault::LoseWakeup, Fault::Crash, Fault::Vanish, Fault::Pause, Fault::Deaf] {
            let kinds: &'static [Fault] = Box::leak(Box::new([fault]));
            let bounds = Bounds { faults: 1, kinds, quiet_one_in: 64, ..Bounds::BASE };
            let report = explore(&bounds, 2, n(2, 1_500_000));
            println!("{fault:?} {} {} {} {:?} {}", report.total, report.unique, report.depth, report.took, report.is_whole);
            for (name, path) in &report.violations { println!("{name}\n{}", tell(&bounds, path)); }
        },
        Some("walk") => {
            let bounds = Bounds { clients: 3, limit: 2, weights: &[1,2], wishes: 20, at_once: 3, faults: n(2, 40) as u8, copies: 4, wakeups: 6, clock_steps: n(3, 0) as u8, ..Bounds::BASE };
            let w = walk(&bounds, n(5,1) as u64, n(4, 400), u64::MAX, std::time::Duration::from_secs(20));
            println!("{} {} {:?} {}", w.histories, w.steps, w.took, w.slowest);
            if let Some((seed, what, path)) = w.violation { println!("seed {seed} {what}\n{}", tell(&bounds, &path)); }
        }
        _ => {
            let bounds = Bounds { faults: n(1, 0) as u8, wishes: n(2,1) as u8, at_once: n(3, 1), clients: n(4,2), limit: n(5,1) as u32, quiet_one_in: n(7, 1) as u64, clock_steps: n(8,0) as u8, ..Bounds::BASE };
            let report = explore(&bounds, 2, n(6, 2_000_000));
            println!("{} {} {} {:?} {}", report.total, report.unique, report.depth, report.took, report.is_whole);
            for (name, path) in &report.violations { println!("{name}\n{}", tell(&bounds, path)); }
        }
    }
}
