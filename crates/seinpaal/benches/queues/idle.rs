//! The cost of idle workers, in a real window of time.

use std::time::Duration;

use seinpaal::Seinpaal;

use crate::{
    crew::Crew,
    server::Server,
    table::{Bound, Table},
};

const HOUR: f64 = 3600.0;

pub(crate) async fn window(server: &Server, workers: u32, is_quick: bool, table: &mut Table) {
    let window = Duration::from_secs(if is_quick { 10 } else { 120 });
    let crew = {
        let seinpaal = Seinpaal::connect(&server.url()).await.expect("the store is there");
        let queue = seinpaal.queue(&format!("idle {workers}"));
        let crew = Crew::start(&server.url(), &queue, workers, 8).await;
        let _ = seinpaal.close().await;
        crew
    };
    tokio::time::sleep(Duration::from_secs(2)).await; // the commands of the start have passed
    let tap = server.tap();
    tokio::time::sleep(window).await;
    let commands = tap.end();
    drop(crew);
    // The pings that each connection sends even without a queue, to learn that the server is there.
    let pings = commands.iter().filter(|command| command.contains("\"PING\"")).count();
    let hourly = |count: usize| count as f64 * HOUR / window.as_secs_f64();
    let what =
        format!("redis: {workers} idle worker processes, a window of {window:?}, in an hour");
    // A place is renewed every 54 to 60 s. The window may begin just before a renewal and end just
    // after another.
    let renewals = window.as_secs_f64() / 54.0 + 1.0;
    let most = f64::from(workers) * renewals * HOUR / window.as_secs_f64();
    let of_queues = hourly(commands.len() - pings);
    table.count(&format!("{what}: commands of queues"), of_queues, Bound::AtMost(most.ceil()), "");
    table.figure(&format!("{what}: pings of connections"), &hourly(pings).to_string(), "");
}
