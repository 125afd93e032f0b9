//! What idle workers cost, in a real window of time.

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
        seinpaal.close().await;
        crew
    };
    tokio::time::sleep(Duration::from_secs(2)).await; // what belongs to the start is over
    let tap = server.tap();
    tokio::time::sleep(window).await;
    let commands = tap.end();
    drop(crew);
    let hourly = commands.len() as f64 * HOUR / window.as_secs_f64();
    let what = format!(
        "redis: {workers} idle worker processes, 8 items at once each, a window of {window:?}: {} commands; an hour",
        commands.len()
    );
    // A place is renewed once a minute; the window may begin just before one and end just after another.
    let renewals = window.as_secs_f64() / 60.0 + 1.0;
    let most = f64::from(workers) * renewals * HOUR / window.as_secs_f64();
    table.count(&what, hourly, Bound::AtMost(most.ceil()), "");
}
