//! Acquire and release while no other client is there.

use std::time::Instant;

use seinpaal::{Seinpaal, Semaphore};

use crate::{
    server::Server,
    table::{Bound, Table, quantile, text},
};

const CYCLES: u32 = 1_000;
/// Rounds of ours and of the yardstick alternate, because machines are busy for minutes at a time.
const ROUNDS: u32 = 8;

/// One at a time, each awaited: as many round trips as commands.
pub(crate) async fn counted(server: &Server, table: &mut Table) {
    let seinpaal = Seinpaal::connect(&server.url()).await.expect("the store is there");
    let semaphore = seinpaal.semaphore("cycles").limit(4);
    cycle(&semaphore, 10).await;
    let tap = server.tap();
    cycle(&semaphore, CYCLES).await;
    let commands = tap.end().len() as f64 / f64::from(CYCLES);
    let what = "nobody else: commands, each a round trip, for acquire + release";
    table.count(
        what,
        commands,
        Bound::Exactly(2.0),
        "2 (most), 3–7 (python-redis-lock, AAS, redis-semaphore for Ruby)",
    );
    let tap = server.tap();
    for _ in 0..CYCLES {
        drop(semaphore.acquire().await.expect("a permit"));
    }
    let commands = tap.end().len() as f64 / f64::from(CYCLES);
    let what = "the same, the permit dropped and asked for again at once: commands";
    table.count(what, commands, Bound::AtMost(2.0), "2");
}

/// The server's work, against that of a script that does nothing.
pub(crate) async fn timed(server: &mut Server, table: &mut Table) {
    let seinpaal = Seinpaal::connect(&server.url()).await.expect("the store is there");
    let semaphore = seinpaal.semaphore("timed").limit(4);
    let (mut ours, mut nothing, mut ratios, mut cycles) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let (cpu, start) = (server.cpu(), Instant::now());
        cycle(&semaphore, CYCLES).await;
        ours.push((server.cpu() - cpu) as f64 / f64::from(2 * CYCLES));
        cycles.push(start.elapsed() / CYCLES);
        let cpu = server.cpu();
        server.do_nothing(2 * CYCLES);
        nothing.push((server.cpu() - cpu) as f64 / f64::from(2 * CYCLES));
        ratios.push(ours[ours.len() - 1] / nothing[nothing.len() - 1]);
    }
    let figure = format!(
        "{:.1} µs; a script that does nothing {:.1} µs; {:.2} times",
        middle(&mut ours) / 1e3,
        middle(&mut nothing) / 1e3,
        middle(&mut ratios)
    );
    let what = "nobody else: the server's processor time for one call";
    table.figure(what, &figure, "the naive script costs about twice a lean one");
    let time = text(quantile(&mut cycles, 0.5));
    table.figure("nobody else: time of one acquire + release", &time, "");
}

async fn cycle(semaphore: &Semaphore, times: u32) {
    for _ in 0..times {
        let permit = semaphore.acquire().await.expect("a permit");
        permit.release().await.expect("it was held");
    }
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
