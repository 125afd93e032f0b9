//! Draws what a task does next, so that the seed determines it.

use std::time::Duration;

use fastrand::Rng;
use seinpaal_rig::between;
use tokio::sync::watch;

use super::WorkerOrders;

/// One request, and its course.
#[derive(Clone, Debug)]
pub(super) struct RequestTurn {
    pub(super) name: String,
    pub(super) limit: u32,
    pub(super) permits: u32,
    pub(super) way: WaitingWay,
    pub(super) hold: Duration,
    pub(super) rest: Duration,
    /// Whether the worker drops the permit instead of releasing it.
    pub(super) drops: bool,
}

/// The way in which the worker asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum WaitingWay {
    Patient,
    Within(Duration),
    Try,
    /// The worker drops the future after this long.
    Withdrawn(Duration),
}

const MS: Duration = Duration::from_millis(1);

impl RequestTurn {
    pub(super) fn draw(rng: &mut Rng, orders: &WorkerOrders) -> Self {
        let (name, limit) = rng.choice(&orders.names).unwrap().clone();
        let permits = if rng.u64(..100) < 75 { 1 } else { rng.u32(1..=limit.clamp(1, 4)) };
        Self {
            permits,
            name,
            limit,
            way: WaitingWay::draw(rng),
            hold: hold(rng, orders.ttl),
            rest: between(rng, Duration::ZERO, 20 * MS),
            drops: rng.u64(..100) < 25,
        }
    }

    /// Returns the timeout, in microseconds.
    pub(super) fn timeout(&self) -> Option<u64> {
        match self.way {
            WaitingWay::Try => Some(0),
            WaitingWay::Within(timeout) => u64::try_from(timeout.as_micros()).ok(),
            WaitingWay::Patient | WaitingWay::Withdrawn(_) => None,
        }
    }

    pub(super) async fn until_withdrawn(&self, stop: &mut watch::Receiver<bool>) {
        let stopped = async {
            if stop.wait_for(|stop| *stop).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        match self.way {
            WaitingWay::Withdrawn(after) => tokio::select! {
                () = stopped => {}
                () = tokio::time::sleep(after) => {}
            },
            _ => stopped.await,
        }
    }
}

impl WaitingWay {
    fn draw(rng: &mut Rng) -> Self {
        match rng.u64(..100) {
            0..60 => Self::Patient,
            60..75 => Self::Within(between(rng, 5 * MS, 1500 * MS)),
            75..85 => Self::Try,
            _ => Self::Withdrawn(between(rng, Duration::ZERO, 500 * MS)),
        }
    }
}

/// Draws how long to hold: mostly a short time, so that much happens, and sometimes so long that
/// the lease must be renewed.
fn hold(rng: &mut Rng, ttl: Duration) -> Duration {
    match rng.u64(..100) {
        0..80 => between(rng, Duration::ZERO, 20 * MS),
        80..96 => between(rng, 20 * MS, 200 * MS),
        _ => between(rng, ttl / 3, ttl * 3 / 2),
    }
}
