//! The promises of the layer over every store, with two connections, as two processes of a service
//! have.

use std::time::Duration;

use axum::http::StatusCode;
use seinpaal::Seinpaal;
use seinpaal_rig::{RedisCluster, RedisServer, SentinelServers, ZookeeperEnsemble};
use tower::{Layer, ServiceExt};

use super::{Gate, evict, gated, get, held, layer, text, until_held};

/// Longer than any step takes on a busy machine.
const BOUND: Duration = Duration::from_secs(60);

/// Checks the promises. A request of a key is served over one connection. Requests over the other
/// connection are refused, wait, and lose their permits.
async fn keeps_its_promises(one: Seinpaal, two: Seinpaal) {
    let gate = Gate::default();
    let service =
        |seinpaal: &Seinpaal, wait| layer(seinpaal).wait(wait).answering().layer(gated(&gate));
    let first = tokio::spawn(service(&one, BOUND).oneshot(get("/of/ann")));
    gate.entered.notified().await;

    for wait in [Duration::ZERO, Duration::from_millis(50)] {
        let ask = async || service(&two, wait).oneshot(get("/of/ann")).await.unwrap();
        let mut shed = ask().await;
        // On a busy machine the store may be silent for longer than the wait. Then the answer is
        // 503, and the test asks again.
        while shed.status() == StatusCode::SERVICE_UNAVAILABLE {
            shed = ask().await;
        }
        assert_eq!(shed.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(shed.headers()["retry-after"], "1");
    }
    let other = tokio::spawn(service(&two, BOUND).oneshot(get("/of/bob")));
    gate.entered.notified().await;
    assert_eq!((held(&one, "tenant/ann").await, held(&one, "tenant/bob").await), (1, 1));
    gate.leave.notify_waiters();
    for served in [first, other] {
        assert_eq!(text(served.await.unwrap().unwrap()).await, "slot 0");
    }

    let second = tokio::spawn(service(&two, BOUND).oneshot(get("/of/ann")));
    gate.entered.notified().await;
    evict(&one, "tenant/ann").await;
    let stopped = second.await.unwrap().unwrap();
    assert_eq!(stopped.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(stopped.headers()["retry-after"], "1");
    assert!(text(stopped).await.contains("stopped half-way"));
    for name in ["tenant/ann", "tenant/bob"] {
        until_held(&one, name, 0).await;
    }
}

async fn at(url: &str) {
    let connect = async || Seinpaal::connect(url).await.unwrap();
    keeps_its_promises(connect().await, connect().await).await;
}

#[tokio::test]
async fn the_layer_keeps_its_promises_in_memory() {
    let seinpaal = Seinpaal::in_memory();
    keeps_its_promises(seinpaal.clone(), seinpaal).await;
}

#[tokio::test]
async fn the_layer_keeps_its_promises_on_the_embedded_store() {
    let folder = tempfile::tempdir().unwrap();
    at(&format!("file://{}/store", folder.path().display())).await;
}

#[tokio::test]
async fn the_layer_keeps_its_promises_on_redis() {
    at(&RedisServer::start().url("")).await;
}

#[tokio::test]
async fn the_layer_keeps_its_promises_behind_sentinels() {
    at(&SentinelServers::shared().url("")).await;
}

#[tokio::test]
async fn the_layer_keeps_its_promises_on_a_cluster() {
    at(&RedisCluster::shared().url()).await;
}

#[tokio::test]
async fn the_layer_keeps_its_promises_on_a_quorum() {
    let servers = [(); 3].map(|()| RedisServer::start());
    let hosts = servers.each_ref().map(|server| format!("127.0.0.1:{}", server.port())).join(",");
    at(&format!("redis+quorum://{hosts}?restart-guard=off")).await;
}

#[tokio::test]
async fn the_layer_keeps_its_promises_on_zookeeper() {
    at(&format!("{}/tower", ZookeeperEnsemble::shared().url())).await;
}
