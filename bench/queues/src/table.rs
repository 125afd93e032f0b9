//! The table, with a row for each peer, which is printed as soon as it is measured.

use std::{fs, io};

use crate::measure::{Figures, Rate};

/// The numbers of worker processes, each with the number of items that a worker has at a time.
pub(crate) const DRAINS: [(u64, u64); 3] = [(1, 1), (8, 1), (1, 64)];

pub(crate) fn head(items: u64) -> io::Result<()> {
    println!("{items} items of 64 bytes; load of the machine before: {}", load()?);
    let drain = |(workers, concurrency): (u64, u64)| {
        let workers =
            if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") };
        if concurrency == 1 { workers } else { format!("{workers}, {concurrency} at once") }
    };
    let columns: Vec<String> = DRAINS.map(drain).into();
    println!(
        "\n| items a second (server + clients, µs of processor time an item) | pushed one by one | pushed 50 at a time | {} | \
         idle worker, push to start: p50 / p99 |",
        columns.join(" | ")
    );
    println!("|{}", "---|".repeat(4 + DRAINS.len()));
    Ok(())
}

pub(crate) fn row(peer: &str, figures: &Figures) {
    let drains: Vec<String> = figures.drains.iter().map(|drain| whole(drain.as_ref())).collect();
    println!(
        "| {peer} | {} | {} | {} | {} |",
        of_server(&figures.push_one),
        of_server(&figures.push_many),
        drains.join(" | "),
        latency(&figures.latencies)
    );
}

pub(crate) fn foot() -> io::Result<()> {
    println!("\nload of the machine after: {}", load()?);
    Ok(())
}

fn of_server(rate: &Rate) -> String {
    format!("{:.0} ({:.0})", rate.a_second, rate.server)
}

fn whole(rate: Option<&Rate>) -> String {
    let Some(rate) = rate else { return "–".to_owned() };
    format!("{:.0} ({:.0} + {:.0})", rate.a_second, rate.server, rate.clients)
}

fn latency(sorted: &[u64]) -> String {
    let at = |part: f64| {
        let last = sorted.len().saturating_sub(1) as f64;
        sorted.get((last * part).round() as usize).map_or(f64::NAN, |late| *late as f64 / 1e6)
    };
    format!("{:.2} / {:.2} ms of {}", at(0.5), at(0.99), sorted.len())
}

fn load() -> io::Result<String> {
    let text = fs::read_to_string("/proc/loadavg")?;
    Ok(text.split(' ').take(3).collect::<Vec<_>>().join(" "))
}
