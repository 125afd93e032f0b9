//! Tests of clients that leave before they have their answer.

use std::pin::pin;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::Request,
    response::Response,
};
use futures_util::{FutureExt, poll};
use seinpaal::{Seinpaal, Semaphore, Snapshot};
use seinpaal_serve::{Dashboard, Options};
use serde_json::Value;
use tokio::task::yield_now;
use tower_service::Service;

use super::Outcome;

/// The HTTP API without a port, so that a test can drop a request at an exact point.
struct Programs(Router);

impl Programs {
    fn of(seinpaal: &Seinpaal) -> Result<Self, Box<dyn std::error::Error>> {
        let options = Options { api: true, allow_actions: true, ..Options::default() };
        Ok(Self(Dashboard::new(seinpaal.clone(), options)?.router()))
    }

    /// Sends a request with a key, and drops it while the store has it. The server also drops the
    /// future of a request whose connection ends.
    fn break_off(&self, address: &str, body: &str) {
        let answer = self.0.clone().call(keyed(address, body)).now_or_never();
        assert!(answer.is_none(), "the answer was there at once");
    }

    /// Breaks off as soon as the name is in this state and the request has heard of it.
    async fn break_off_at(&self, state: StateOfName<'_>, address: &str, body: &str) {
        let mut answer = pin!(self.0.clone().call(keyed(address, body)));
        assert!(poll!(answer.as_mut()).is_pending(), "the answer was there at once");
        state.is_there().await;
        assert!(poll!(answer.as_mut()).is_pending(), "nothing was left to do");
    }

    async fn call(&self, address: &str, body: &str) -> Result<Value, Box<dyn std::error::Error>> {
        let answer = self.0.clone().call(keyed(address, body)).await?;
        Ok(serde_json::from_str(&text_of(answer).await?)?)
    }
}

/// Reads the body of an answer.
pub(crate) async fn text_of(answer: Response) -> Result<String, Box<dyn std::error::Error>> {
    let bytes = to_bytes(answer.into_body(), usize::MAX).await?;
    Ok(String::from_utf8(bytes.into())?)
}

/// A state of a name: how many permits are held, and how many tickets wait.
struct StateOfName<'a>(&'a Semaphore, u32, u32);

impl StateOfName<'_> {
    /// Waits for this state. The connection works while this function yields.
    async fn is_there(&self) {
        let is_so = |seen: Snapshot| (seen.permits_held, seen.waiting_total) == (self.1, self.2);
        while !self.0.snapshot().await.is_ok_and(is_so) {
            yield_now().await;
        }
    }
}

/// Makes a request. All requests have the same key.
fn keyed(address: &str, body: &str) -> Request<Body> {
    let request = Request::post(address).header("host", "localhost").header("idempotency-key", "k");
    let request = request.header("content-type", "application/json").body(body.to_owned().into());
    request.expect("a request")
}

#[tokio::test(start_paused = true)]
async fn a_push_whose_client_broke_off_is_not_done_again_for_the_same_key() -> Outcome {
    let seinpaal = Seinpaal::in_memory_here();
    let programs = Programs::of(&seinpaal)?;
    let (address, body) = ("/v1/queues/mails/items", r#"{"items": [{"payload": "to: ann"}]}"#);
    programs.break_off(address, body);
    let pushed = programs.call(address, body).await?;
    let again = programs.call(address, body).await?;
    assert_eq!(pushed, again);
    assert_eq!(seinpaal.queue("mails").snapshot().await?.ready, 1, "{pushed}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_permit_whose_client_broke_off_is_handed_over_to_the_same_key() -> Outcome {
    let seinpaal = Seinpaal::in_memory_here();
    let (programs, gpus) = (Programs::of(&seinpaal)?, seinpaal.semaphore("gpus"));
    let (address, body) = ("/v1/names/gpus/acquire", r#"{"limit": 3}"#);
    programs.break_off_at(StateOfName(&gpus, 1, 0), address, body).await;
    let taken = programs.call(address, body).await?;
    let seen = gpus.snapshot().await?;
    assert_eq!(seen.permits_held, 1, "{taken}");
    assert_eq!(taken["ticket"], seen.holders[0].ticket.to_string());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_the_line_holds_nothing_though_it_has_a_key() -> Outcome {
    let seinpaal = Seinpaal::in_memory_here();
    let (programs, deploy) = (Programs::of(&seinpaal)?, seinpaal.semaphore("deploy"));
    let held = deploy.acquire().await?;
    let (address, body) = ("/v1/names/deploy/acquire", r#"{"wait_ms": 60000}"#);
    programs.break_off_at(StateOfName(&deploy, 1, 1), address, body).await;
    StateOfName(&deploy, 1, 0).is_there().await;
    held.release().await?;
    StateOfName(&deploy, 0, 0).is_there().await;
    let taken = programs.call(address, body).await?;
    assert!(taken["ticket"].is_string(), "{taken}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_key_whose_request_was_refused_is_free_for_another_body() -> Outcome {
    let seinpaal = Seinpaal::in_memory_here();
    let programs = Programs::of(&seinpaal)?;
    let address = "/v1/queues/mails/items";
    let refused = programs.call(address, r#"{"items": [{"priority": 1000}]}"#).await?;
    assert_eq!(refused["status"], 400, "{refused}");
    let pushed = programs.call(address, r#"{"items": [{"priority": 100}]}"#).await?;
    assert!(pushed["items"][0]["id"].is_u64(), "{pushed}");
    Ok(())
}
