//! Draws what a task does next, so that the seed determines it.

use std::time::Duration;

use tokio::sync::watch;

use super::WorkerOrders;
use seinpaal_draw::Draw;

/// One request and what becomes of it.
#[derive(Clone, Debug)]
pub(super) struct RequestTurn {
    pub(super) name: String,
    pub(super) limit: u32,
    pub(super) permits: u32,
    pub(super) way: WaitingWay,
    pub(super) hold: Duration,
    pub(super) rest: Duration,
    /// Whether the worker drops the permit and does not release it.
    pub(super) drops: bool,
}

/// How the worker asks.
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
    pub(super) fn draw(draw: &mut Draw, orders: &WorkerOrders) -> Self {
        let (name, limit) = draw.pick(&orders.names);
        let many = u64::from(limit).min(4);
        let permits = if draw.chance(75) { 1 } else { 1 + draw.below(many) };
        Self {
            permits: u32::try_from(permits).unwrap_or(1),
            name,
            limit,
            way: WaitingWay::draw(draw),
            hold: hold(draw, orders.ttl),
            rest: draw.between(Duration::ZERO, 20 * MS),
            drops: draw.chance(25),
        }
    }

    /// The time-out, in microseconds.
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
    fn draw(draw: &mut Draw) -> Self {
        match draw.below(100) {
            0..60 => Self::Patient,
            60..75 => Self::Within(draw.between(5 * MS, 1500 * MS)),
            75..85 => Self::Try,
            _ => Self::Withdrawn(draw.between(Duration::ZERO, 500 * MS)),
        }
    }
}

/// Draws how long to hold: mostly a short time, so that much happens, and sometimes so long that
/// the lease must be renewed.
fn hold(draw: &mut Draw, ttl: Duration) -> Duration {
    match draw.below(100) {
        0..80 => draw.between(Duration::ZERO, 20 * MS),
        80..96 => draw.between(20 * MS, 200 * MS),
        _ => draw.between(ttl / 3, ttl * 3 / 2),
    }
}
