//! An axum service that runs as several processes, and serves at most three requests of a tenant at
//! a time in all processes together.
//!
//! `cargo run -p seinpaal-tower --example tenants -- 127.0.0.1:8080 redis://localhost`, and the
//! same on another port; then `curl -X POST '127.0.0.1:8080/jobs/ann?ms=500'`.

use std::{collections::HashMap, env, error::Error, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::Query,
    http::{Method, Request},
    routing::{get, post},
};
use seinpaal::Seinpaal;
use seinpaal_tower::{Demand, LimitLayer, RequestPermit};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// How many requests of a tenant are served at a time, in all processes together.
const LIMIT: u32 = 3;
/// How long a request waits for its turn.
const WAIT: Duration = Duration::from_secs(2);
/// How many requests of a tenant wait. More are refused at once.
const MOST_WAITING: u32 = 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let listen = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let store = arguments.next().unwrap_or_else(|| "redis://localhost".into());

    let seinpaal = Seinpaal::connect(&store).await?;
    let listener = TcpListener::bind(listen).await?;
    println!("listening on {}", listener.local_addr()?);
    axum::serve(listener, service(&seinpaal)).with_graceful_shutdown(told_to_end()).await?;
    seinpaal.close().await?;
    Ok(())
}

fn service(seinpaal: &Seinpaal) -> Router {
    let tenants = LimitLayer::new(seinpaal, demand).wait(WAIT).max_waiting(MOST_WAITING);
    Router::new()
        .route("/jobs/{tenant}", post(job))
        .route("/healthz", get(|| async { "ok" }))
        .layer(tenants.answering())
}

/// Asks for a permit of the tenant for a job. All other requests need no permit.
fn demand(request: &Request<Body>) -> Option<Demand> {
    let tenant = request.uri().path().strip_prefix("/jobs/")?;
    let is_job = request.method() == Method::POST;
    is_job.then(|| Demand::of(format!("tenant/{tenant}")).limit(LIMIT))
}

/// Does the work of a job. A real job would give the fence to each resource that it changes, see
/// docs/guide/fencing.md.
async fn job(
    Extension(held): Extension<RequestPermit>,
    Query(wanted): Query<HashMap<String, String>>,
) -> String {
    let milliseconds = wanted.get("ms").and_then(|text| text.parse().ok()).unwrap_or(100);
    sleep(Duration::from_millis(milliseconds)).await;
    format!("done in slot {} with fence {}\n", held.slot, held.fence)
}

async fn told_to_end() {
    if let Ok(mut signal) = signal(SignalKind::terminate()) {
        signal.recv().await;
    }
}
