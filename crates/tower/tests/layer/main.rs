//! Tests of the layer over a store in memory, and of its promises over every store.

mod refusals;
mod stores;

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    http::{Request, Response, StatusCode},
};
use http_body_util::{BodyExt, StreamBody};
use seinpaal::Seinpaal;
use seinpaal_tower::{Answering, Demand, LimitLayer, Limited, Refusal, RequestPermit};
use tokio::sync::{Notify, mpsc};
use tower::{Layer, Service, ServiceExt, service_fn};

type Key = fn(&Request<Body>) -> Option<Demand>;

/// The signals between the inner service and a test: a request has entered, and may leave.
#[derive(Clone, Default)]
struct Gate {
    entered: Arc<Notify>,
    leave: Arc<Notify>,
}

fn tenant(request: &Request<Body>) -> Option<Demand> {
    let tenant = request.uri().path().strip_prefix("/of/")?;
    Some(Demand::of(format!("tenant/{tenant}")).limit(1))
}

fn layer(seinpaal: &Seinpaal) -> LimitLayer<Key> {
    LimitLayer::new(seinpaal, tenant as Key)
}

fn get(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).unwrap()
}

/// Makes a service that works on each request until the gate lets the request leave.
fn gated(
    gate: &Gate,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
+ Clone
+ Send
+ 'static {
    let gate = gate.clone();
    service_fn(move |request: Request<Body>| {
        let gate = gate.clone();
        async move {
            gate.entered.notify_one();
            gate.leave.notified().await;
            let held = request.extensions().get::<RequestPermit>();
            let words =
                held.map_or_else(|| "no permit".to_owned(), |held| format!("slot {}", held.slot));
            Ok(Response::new(Body::from(words)))
        }
    })
}

async fn text<B>(response: Response<B>) -> String
where
    B: axum::body::HttpBody<Data = Bytes, Error: std::fmt::Debug>,
{
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn held(seinpaal: &Seinpaal, name: &str) -> u32 {
    seinpaal.semaphore(name).snapshot().await.unwrap().permits_held
}

/// Waits until `wanted` permits are held, for 10 s at most.
async fn until_held(seinpaal: &Seinpaal, name: &str, wanted: u32) {
    let began = Instant::now();
    while held(seinpaal, name).await != wanted {
        assert!(began.elapsed() < Duration::from_secs(10), "{wanted} permits of {name}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn one_request_of_a_key_is_served_at_a_time_and_the_others_wait() {
    let seinpaal = Seinpaal::in_memory();
    let gate = Gate::default();
    let service = layer(&seinpaal).wait(Duration::from_secs(30)).answering().layer(gated(&gate));
    let first = tokio::spawn(service.clone().oneshot(get("/of/ann")));
    gate.entered.notified().await;
    let second = tokio::spawn(service.clone().oneshot(get("/of/ann")));
    let other = tokio::spawn(service.oneshot(get("/of/bob")));
    // Another key does not wait.
    gate.entered.notified().await;
    assert_eq!((held(&seinpaal, "tenant/ann").await, held(&seinpaal, "tenant/bob").await), (1, 1));
    gate.leave.notify_waiters();
    for done in [first, other] {
        assert_eq!(text(done.await.unwrap().unwrap()).await, "slot 0");
    }
    gate.entered.notified().await;
    gate.leave.notify_one();
    assert_eq!(text(second.await.unwrap().unwrap()).await, "slot 0");
    until_held(&seinpaal, "tenant/ann", 0).await;
}

#[tokio::test]
async fn a_request_without_a_key_needs_no_permit() {
    let seinpaal = Seinpaal::in_memory();
    let gate = Gate::default();
    gate.leave.notify_one();
    let service = layer(&seinpaal).answering().layer(gated(&gate));
    assert_eq!(text(service.oneshot(get("/healthz")).await.unwrap()).await, "no permit");
}

#[tokio::test]
async fn a_request_that_waits_too_long_is_answered_429_with_retry_after() {
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.semaphore("tenant/ann").limit(1).acquire().await.unwrap();
    for wait in [Duration::ZERO, Duration::from_millis(20)] {
        let layer = layer(&seinpaal).wait(wait).retry_after(Duration::from_millis(2500));
        let service = layer.answering().layer(gated(&Gate::default()));
        let response = service.oneshot(get("/of/ann")).await.unwrap();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()["retry-after"], "3");
        assert_eq!(text(response).await, "too many requests: try again later\n");
    }
    drop(permit);
}

#[tokio::test]
async fn a_request_is_refused_at_once_if_too_many_wait() {
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.semaphore("tenant/ann").limit(1).acquire().await.unwrap();
    let layer = layer(&seinpaal).wait(Duration::from_secs(3600)).max_waiting(0);
    let response = layer.answering().layer(gated(&Gate::default())).oneshot(get("/of/ann")).await;
    assert_eq!(response.unwrap().status(), StatusCode::TOO_MANY_REQUESTS);
    drop(permit);
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_the_line_and_gives_its_permit_back() {
    let seinpaal = Seinpaal::in_memory();
    let gate = Gate::default();
    let service = layer(&seinpaal).wait(Duration::from_secs(3600)).answering().layer(gated(&gate));
    let first = tokio::spawn(service.clone().oneshot(get("/of/ann")));
    gate.entered.notified().await;
    let second = tokio::spawn(service.oneshot(get("/of/ann")));
    let waiters = async || seinpaal.semaphore("tenant/ann").snapshot().await.unwrap().waiters.len();
    while waiters().await == 0 {
        tokio::task::yield_now().await;
    }
    second.abort();
    let _ = second.await;
    while waiters().await == 1 {
        tokio::task::yield_now().await;
    }
    first.abort();
    let _ = first.await;
    until_held(&seinpaal, "tenant/ann", 0).await;
}

#[tokio::test]
async fn a_request_that_loses_its_permit_is_stopped_and_answered_503() {
    let seinpaal = Seinpaal::in_memory();
    let gate = Gate::default();
    let service = layer(&seinpaal).answering().layer(gated(&gate));
    let request = tokio::spawn(service.oneshot(get("/of/ann")));
    gate.entered.notified().await;
    evict(&seinpaal, "tenant/ann").await;
    let response = request.await.unwrap().unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()["retry-after"], "1");
    assert!(text(response).await.contains("stopped half-way"));
}

async fn evict(seinpaal: &Seinpaal, name: &str) {
    let semaphore = seinpaal.semaphore(name);
    let ticket = semaphore.snapshot().await.unwrap().holders[0].ticket;
    semaphore.evict(ticket).await.unwrap();
}

/// Makes a service that responds with a body which the test sends piece by piece.
fn streaming(
    seinpaal: &Seinpaal,
) -> (mpsc::UnboundedSender<&'static str>, Limited<impl Streams, Key, Answering>) {
    let (send, receive) = mpsc::unbounded_channel::<&'static str>();
    let receive = Arc::new(tokio::sync::Mutex::new(Some(receive)));
    let inner = service_fn(move |_: Request<Body>| {
        let receive = Arc::clone(&receive);
        async move {
            let mut receive = receive.lock().await.take().expect("one request");
            let chunks = futures_of(move |context| receive.poll_recv(context));
            let frames = StreamBody::new(chunks);
            Ok::<_, Infallible>(Response::new(Body::new(frames)))
        }
    });
    (send, layer(seinpaal).answering().layer(inner))
}

trait Streams:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
}

impl<S> Streams for S where
    S: Service<
            Request<Body>,
            Response = Response<Body>,
            Error = Infallible,
            Future: Send + 'static,
        > + Clone
        + Send
        + 'static
{
}

fn futures_of(
    mut poll: impl FnMut(&mut std::task::Context<'_>) -> std::task::Poll<Option<&'static str>>,
) -> impl futures_util::Stream<Item = Result<http_body::Frame<Bytes>, Infallible>> {
    futures_util::stream::poll_fn(move |context| {
        poll(context).map(|chunk| {
            chunk.map(|text| Ok(http_body::Frame::data(Bytes::from_static(text.as_bytes()))))
        })
    })
}

#[tokio::test]
async fn the_permit_is_held_until_the_body_has_been_sent() {
    let seinpaal = Seinpaal::in_memory();
    let (send, service) = streaming(&seinpaal);
    let mut body = service.oneshot(get("/of/ann")).await.unwrap().into_body();
    send.send("one").unwrap();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "one");
    assert_eq!(held(&seinpaal, "tenant/ann").await, 1);
    drop(send);
    assert!(body.frame().await.is_none());
    until_held(&seinpaal, "tenant/ann", 0).await;
}

#[tokio::test]
async fn a_body_breaks_off_when_the_permit_is_lost() {
    let seinpaal = Seinpaal::in_memory();
    let (send, service) = streaming(&seinpaal);
    let mut body = service.oneshot(get("/of/ann")).await.unwrap().into_body();
    send.send("one").unwrap();
    body.frame().await.unwrap().unwrap();
    evict(&seinpaal, "tenant/ann").await;
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(Refusal::Lost { .. })), "{error}");
    send.send("two").unwrap();
    assert!(body.frame().await.is_none(), "nothing more is sent without the permit");
}
