//! A service that resizes pictures, at most two at a time in all of its processes together. Pages
//! under `/locks/` show the holders and the waiters.
//!
//!     cargo run -p seinpaal-serve --example mounted [STORE] [ADDRESS]
//!
//! STORE is `file:` unless it is given, and ADDRESS 127.0.0.1:8080. Then, in another terminal:
//!
//!     curl -X POST http://127.0.0.1:8080/resize    # three at once: one waits, and the page says why
//!     open http://127.0.0.1:8080/locks/

use std::{env, error::Error, time::Duration};

use axum::{Router, extract::State, http::StatusCode, routing::post};
use seinpaal::Seinpaal;
use seinpaal_serve::{Dashboard, Options};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let store = env::args().nth(1).unwrap_or_else(|| "file:".to_owned());
    let address = env::args().nth(2).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let seinpaal = Seinpaal::connect(&store).await?;
    let listener = TcpListener::bind(&address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, service(seinpaal)?).await?;
    Ok(())
}

/// Makes the routes of the service, and mounts the pages beside them. The service checks its own
/// visitors, and the pages check theirs.
fn service(seinpaal: Seinpaal) -> Result<Router, Box<dyn Error>> {
    let options = Options { base_path: "/locks".to_owned(), ..Options::default() };
    let pages = Dashboard::new(seinpaal.clone(), options)?.router();
    Ok(Router::new().route("/resize", post(resize)).with_state(seinpaal).merge(pages))
}

async fn resize(State(seinpaal): State<Seinpaal>) -> Result<&'static str, (StatusCode, String)> {
    let busy = |error: &dyn Error| (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n"));
    let two = seinpaal.semaphore("resize").limit(2);
    let permit = two.acquire().timeout(Duration::from_secs(60)).await;
    let permit = permit.map_err(|error| busy(&error))?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    permit.release().await.map_err(|error| busy(&error))?;
    Ok("resized\n")
}
