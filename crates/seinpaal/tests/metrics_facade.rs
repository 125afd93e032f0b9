//! The feature `metrics`: what a real exporter prints about this process.

use std::{
    sync::OnceLock,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use seinpaal::{AcquireError, Lost, Seinpaal, Semaphore};

/// One recorder for the process. Each test uses names of its own.
fn exporter() -> &'static PrometheusHandle {
    static EXPORTER: OnceLock<PrometheusHandle> = OnceLock::new();
    EXPORTER.get_or_init(|| PrometheusBuilder::new().install_recorder().unwrap())
}

/// The value of a series in the present output.
fn value(series: &str) -> Option<f64> {
    let text = exporter().render();
    let line = text
        .lines()
        .find(|line| line.strip_prefix(series).is_some_and(|rest| rest.starts_with(' ')));
    line.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// Waits until a series has a value.
async fn until(series: &str, wanted: f64) {
    until_it(series, |value| value == wanted).await;
}

/// Waits until a series has an accepted value. The recorder sends no news, so it is asked again and
/// again.
async fn until_it(series: &str, will_do: impl Fn(f64) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !value(series).is_some_and(&will_do) {
        assert!(Instant::now() < deadline, "{series}: {}", exporter().render());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn permits_waits_and_holds_are_counted_by_name() {
    exporter();
    let seinpaal = Seinpaal::in_memory();
    let semaphore = seinpaal.semaphore("held").limit(3);
    let permit = semaphore.acquire().permits(3).await.unwrap();
    until(r#"seinpaal_client_permits_held{name="held"}"#, 3.0).await;
    until(r#"seinpaal_client_limit{name="held"}"#, 3.0).await;
    let waiter = tokio::spawn({
        let semaphore = semaphore.clone();
        async move { semaphore.acquire().await }
    });
    until(r#"seinpaal_client_waiters{name="held"}"#, 1.0).await;
    until(r#"seinpaal_client_line_length{name="held"}"#, 1.0).await;
    permit.release().await.unwrap();
    let second = waiter.await.unwrap().unwrap();
    until(r#"seinpaal_client_waiters{name="held"}"#, 0.0).await;
    until(r#"seinpaal_client_permits_held{name="held"}"#, 1.0).await;
    second.release().await.unwrap();
    until(r#"seinpaal_client_permits_held{name="held"}"#, 0.0).await;
    until(r#"seinpaal_client_wait_seconds_count{name="held"}"#, 2.0).await;
    until(r#"seinpaal_client_hold_seconds_count{name="held"}"#, 2.0).await;
    let calls = value(r#"seinpaal_client_store_round_trip_seconds_count{about="permits"}"#);
    assert!(calls.is_some_and(|calls| calls >= 3.0), "{calls:?}");
}

#[tokio::test]
async fn since_when_the_longest_waits_is_told_until_nobody_waits() {
    exporter();
    let unix = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let seinpaal = Seinpaal::in_memory();
    let semaphore = seinpaal.semaphore("since");
    let permit = semaphore.acquire().await.unwrap();
    let series = r#"seinpaal_client_oldest_waiter_since_seconds{name="since"}"#;
    let before = unix();
    let wait = |semaphore: Semaphore| tokio::spawn(async move { semaphore.acquire().await });
    let first = wait(semaphore.clone());
    until(r#"seinpaal_client_line_length{name="since"}"#, 1.0).await;
    let between = unix();
    let second = wait(semaphore.clone());
    until(r#"seinpaal_client_line_length{name="since"}"#, 2.0).await;
    until_it(series, |since| (before..=between).contains(&since)).await;
    permit.release().await.unwrap();
    let permit = first.await.unwrap().unwrap();
    until_it(series, |since| (between..=unix()).contains(&since)).await;
    permit.release().await.unwrap();
    drop(second.await.unwrap().unwrap());
    until(series, 0.0).await;
}

#[tokio::test]
async fn requests_are_counted_by_how_they_ended() {
    exporter();
    let seinpaal = Seinpaal::in_memory();
    let semaphore = seinpaal.semaphore("ends").limit(1);
    let permit = semaphore.acquire().await.unwrap();
    assert!(semaphore.try_acquire().await.unwrap().is_none());
    let late = semaphore.acquire().timeout(Duration::from_millis(20)).await;
    assert!(matches!(late, Err(AcquireError::TimedOut)));
    let crowd = semaphore.acquire().max_waiting(0).await;
    assert!(matches!(crowd, Err(AcquireError::TooManyWaiting)));
    let other = seinpaal.semaphore("ends").limit_exactly(2).try_acquire().await;
    assert!(matches!(other, Err(AcquireError::OtherLimit { .. })));
    let given_up = tokio::spawn({
        let semaphore = semaphore.clone();
        async move { semaphore.acquire().await }
    });
    until(r#"seinpaal_client_waiters{name="ends"}"#, 1.0).await;
    given_up.abort();
    for outcome in ["granted", "busy", "timed_out", "too_many_waiting", "conflict", "abandoned"] {
        let series =
            format!(r#"seinpaal_client_acquisitions_total{{name="ends",outcome="{outcome}"}}"#);
        until(&series, 1.0).await;
    }
    until(r#"seinpaal_client_waiters{name="ends"}"#, 0.0).await;
    permit.release().await.unwrap();
}

#[tokio::test]
async fn a_loss_has_its_cause_and_ends_the_hold() {
    exporter();
    let seinpaal = Seinpaal::in_memory();
    let semaphore = seinpaal.semaphore("lost");
    let permit = semaphore.acquire().await.unwrap();
    semaphore.evict(permit.ticket()).await.unwrap();
    assert!(matches!(permit.lost().await, Lost::Ended(_)));
    until(r#"seinpaal_client_losses_total{name="lost",cause="evicted"}"#, 1.0).await;
    until(r#"seinpaal_client_permits_held{name="lost"}"#, 0.0).await;
    drop(permit);
    until(r#"seinpaal_client_hold_seconds_count{name="lost"}"#, 1.0).await;
}

#[tokio::test]
async fn leases_that_are_renewed_are_counted() {
    exporter();
    let redis = seinpaal_rig::RedisServer::start();
    let seinpaal = Seinpaal::connect(&redis.url("")).await.unwrap();
    let permit =
        seinpaal.semaphore("renewed").acquire().ttl(Duration::from_millis(300)).await.unwrap();
    let series = r#"seinpaal_client_renewals_total{name="renewed"}"#;
    until_it(series, |renewals| renewals >= 2.0).await;
    permit.release().await.unwrap();
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_an_error_of_its_kind() {
    exporter();
    let redis = seinpaal_rig::RedisServer::start();
    let seinpaal = Seinpaal::connect(&redis.url("")).await.unwrap();
    drop(redis);
    let gone = seinpaal.semaphore("gone").try_acquire().timeout(Duration::from_millis(200)).await;
    assert!(matches!(gone, Err(AcquireError::Store(_))));
    let series = r#"seinpaal_client_acquisitions_total{name="gone",outcome="store_error"}"#;
    until(series, 1.0).await;
    let errors = value(r#"seinpaal_client_store_errors_total{about="permits",kind="unreachable"}"#);
    assert!(errors.is_some_and(|errors| errors >= 1.0), "{}", exporter().render());
}

#[tokio::test]
async fn deliveries_are_counted_by_how_they_ended() {
    exporter();
    let seinpaal = Seinpaal::in_memory();
    let queue = seinpaal.queue("letters");
    for payload in ["done", "back", "dead"] {
        queue.push(payload).deliveries(1).await.unwrap();
    }
    let done = queue.pop().await.unwrap();
    until(r#"seinpaal_client_items_in_work{name="letters"}"#, 1.0).await;
    done.acknowledge().await.unwrap();
    until(r#"seinpaal_client_items_in_work{name="letters"}"#, 0.0).await;
    let (back, dead) = (queue.pop().await.unwrap(), queue.pop().await.unwrap());
    back.give_back(Duration::ZERO).await.unwrap();
    dead.fail("no", Duration::ZERO).await.unwrap();
    let late = queue.pop().await.unwrap();
    queue.cancel(late.id()).await.unwrap();
    late.acknowledge().await.unwrap_err();
    for outcome in ["acknowledged", "returned", "died", "lost"] {
        let series =
            format!(r#"seinpaal_client_deliveries_total{{name="letters",outcome="{outcome}"}}"#);
        until(&series, 1.0).await;
    }
}
