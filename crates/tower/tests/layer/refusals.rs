//! The answers to requests that are not served.

use std::time::Duration;

use axum::{
    body::Body,
    http::{Request, Response, StatusCode},
};
use seinpaal::{OnMismatch, Seinpaal};
use seinpaal_tower::{BoxError, Demand, LimitLayer, Refusal, RequestPermit, RequestPermits};
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
    assert_eq!(text(refused).await, "not available: try again later\n", "no address of the store");
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
        |_| Some(Demand::of("tenant/ann").limit(2).on_mismatch(OnMismatch::Refuse)),
        |_| Some(Demand::of("tenant/bob").limit(2).permits(3)),
    ];
    for key in bad {
        let layer = LimitLayer::new(&seinpaal, key).wait(Duration::from_secs(3600)).answering();
        let response = layer.layer(gated(&Gate::default())).oneshot(get("/")).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!response.headers().contains_key("retry-after"), "another try is of no use");
        assert_eq!(text(response).await, "internal error\n");
    }
    drop(permit);
}

#[tokio::test]
async fn a_service_answers_refused_requests_in_its_own_words() {
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.semaphore("tenant/ann").limit(1).acquire().await.unwrap();
    let layer = layer(&seinpaal).wait(Duration::ZERO);
    let layer = layer.answering_with(|refusal: &Refusal, mut response: Response<()>| {
        response.headers_mut().insert("x-limit", refusal.name().parse().unwrap());
        response.map(|()| Body::from("{}"))
    });
    let gate = Gate::default();
    let service = layer.layer(gated(&gate));
    let refused = service.clone().oneshot(get("/of/ann")).await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        (&refused.headers()["retry-after"], &refused.headers()["x-limit"]),
        (&"1".parse().unwrap(), &"tenant/ann".parse().unwrap())
    );
    assert_eq!(text(refused).await, "{}");
    permit.release().await.unwrap();
    gate.leave.notify_one();
    assert_eq!(text(service.oneshot(get("/of/ann")).await.unwrap()).await, "slot 0");
    until_held(&seinpaal, "tenant/ann", 0).await;
}

#[tokio::test]
async fn a_new_limit_refuses_nobody_while_the_old_one_is_in_use() {
    let seinpaal = Seinpaal::in_memory();
    let old = seinpaal.semaphore("tenant/ann").limit(2).acquire().await.unwrap();
    for (on_mismatch, limit) in [(None, 2), (Some(OnMismatch::Set), 3)] {
        let demand = move |_: &Request<Body>| {
            let demand = Demand::of("tenant/ann").limit(3);
            Some(match on_mismatch {
                Some(on_mismatch) => demand.on_mismatch(on_mismatch),
                None => demand,
            })
        };
        let gate = Gate::default();
        gate.leave.notify_one();
        let service = LimitLayer::new(&seinpaal, demand).answering().layer(gated(&gate));
        let response = service.oneshot(get("/of/ann")).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(text(response).await, "slot 1");
        let seen = seinpaal.semaphore("tenant/ann").snapshot().await.unwrap();
        assert_eq!(seen.limit, limit);
        until_held(&seinpaal, "tenant/ann", 1).await;
    }
    drop(old);
}

#[tokio::test]
async fn a_handler_behind_two_layers_sees_both_permits() {
    let seinpaal = Seinpaal::in_memory();
    let all = LimitLayer::new(&seinpaal, |_: &Request<Body>| Some(Demand::of("all").limit(9)));
    let inner = service_fn(|request: Request<Body>| async move {
        let held = request.extensions().get::<RequestPermits>().expect("permits");
        let names: Vec<_> = held.0.iter().map(|held| held.name.clone()).collect();
        let innermost = &request.extensions().get::<RequestPermit>().expect("a permit").name;
        Ok::<_, BoxError>(Response::new(Body::from(format!("{names:?} {innermost}"))))
    });
    // The outer layer passes on the bodies of the inner one, which are not `From<String>`.
    let inner = all.answering().layer(inner);
    let inner =
        tower::util::MapResponse::new(inner, |response: Response<_>| response.map(Body::new));
    let service = layer(&seinpaal).answering().layer(inner);
    let answer = text(service.oneshot(get("/of/ann")).await.unwrap()).await;
    assert_eq!(answer, r#"["tenant/ann", "all"] all"#);
}
