//! A quorum of three real servers under load. One of them is stopped, paused or restarted empty in
//! turn, first with the restart guard and then without it.
//!
//! ```text
//! cargo run -p seinpaal-conformance --example quorum_faults -- [MINUTES [CLIENTS]]
//! ```
//!
//! Prints a table for each of the two runs. Exits with 1 if more permits than the limit were ever
//! believed in with the guard. Panics if a majority answers in a phase and no permit is granted.

use std::{env, process::ExitCode, time::Duration};

use seinpaal_conformance::faults::quorum::{PHASES, QuorumPlan, QuorumReport, run};

fn main() -> ExitCode {
    let number = |at| env::args().nth(at).and_then(|text| text.parse().ok());
    let (minutes, clients) = (number(1).unwrap_or(3), number(2).unwrap_or(32) as usize);
    let phase = Duration::from_secs(4);
    let round = PHASES as u64 * phase.as_secs();
    let plan = QuorumPlan {
        clients,
        ttl: Duration::from_secs(2),
        guard: Some(Duration::from_millis(2500)),
        phase,
        rounds: (minutes * 60 / round).max(1) as u32,
        seed: 1,
    };
    println!("{plan:?}");
    let guarded = run(&plan);
    println!("with the restart guard\n\n{guarded}");
    let unguarded = run(&QuorumPlan { guard: None, ..plan });
    println!("without it\n\n{unguarded}");
    if is_kept(&guarded) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_kept(report: &QuorumReport) -> bool {
    report.tally.over_admissions == 0
}
