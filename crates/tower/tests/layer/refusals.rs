//! The answers to requests that are not served.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use seinpaal::Seinpaal;
use seinpaal_tower::{BoxError, Demand, LimitLayer, Refusal};
use tower::{Layer, Service, ServiceExt, service_fn};

use super::{Gate, gated, get, layer, text, until_held};

#[tokio::test]
async fn without_http_refusals_are_errors() {
    let seinpaal = Seinpaal::in_memory();
    let layer =
        LimitLayer::new(&seinpaal, |name: &&str| Some(Demand::of(*name).limit(2).permits(2)))
            .wait(Duration::ZERO);
    let mut service = layer.layer(service_fn(|name: &'static str| async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        if name == "bad" { Err(BoxError::from("its own")) } else { Ok(name) }
    }));
    assert_eq!(service.ready().await.unwrap().call("a").await.unwrap(), "a");
    assert_eq!(
        service.ready().await.unwrap().call("bad").await.unwrap_err().to_string(),
        "its own"
    );
    until_held(&seinpaal, "a", 0).await;
    let permit = seinpaal.semaphore("a").limit(2).acquire().await.unwrap();
    let refused = service.ready().await.unwrap().call("a").await.unwrap_err();
    let refusal = refused.downcast_ref::<Refusal>().expect("a refusal");
    assert!(refusal.is_busy() && refusal.name() == "a", "{refusal}");
    drop(permit);
}

#[tokio::test]
async fn while_the_store_is_away_requests_are_answered_503_or_let_through() {
    let server = seinpaal_rig::RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.url("")).await.unwrap();
    drop(server);
    let gate = Gate::default();
    gate.leave.notify_one();
    let layer = layer(&seinpaal).wait(Duration::from_millis(200));
    let refused = layer.clone().answering().layer(gated(&gate)).oneshot(get("/of/ann")).await;
    let refused = refused.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "1");
    let passing = layer.let_through_if_unavailable().answering().layer(gated(&gate));
    assert_eq!(text(passing.oneshot(get("/of/ann")).await.unwrap()).await, "no permit");
}

#[tokio::test]
async fn a_demand_that_cannot_be_met_is_answered_500_and_waits_for_nothing() {
    type Key = fn(&Request<Body>) -> Option<Demand>;
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.semaphore("tenant/ann").limit(1).acquire().await.unwrap();
    let bad: [Key; 3] = [
        |_| Some(Demand::of("")),
        |_| Some(Demand::of("tenant/ann").limit(2)),
        |_| Some(Demand::of("tenant/bob").limit(2).permits(3)),
    ];
    for key in bad {
        let layer = LimitLayer::new(&seinpaal, key).wait(Duration::from_secs(3600)).answering();
        let response = layer.layer(gated(&Gate::default())).oneshot(get("/")).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!response.headers().contains_key("retry-after"), "another try is of no use");
        assert!(text(response).await.starts_with("no permit of "));
    }
    drop(permit);
}
