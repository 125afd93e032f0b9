//! The pause between two attempts of a call.

use std::time::Duration;

use tokio::time::sleep;

/// The longest pause before a call that was overtaken tries again, in attempts.
const LONGEST_PAUSE: u32 = 4;

/// Waits after another client's write came first. The first time it does not wait at all. Then it
/// waits for a part of the time that an attempt takes, and for more of it each time. On a slow
/// ensemble, where more calls come between, the wait is longer than on a fast one.
pub(super) async fn pause(attempt: u32, took: Duration) {
    let mut draw = [0; 2];
    if getrandom::fill(&mut draw).is_ok() {
        let part = f64::from(u16::from_le_bytes(draw)) / f64::from(u16::MAX);
        sleep(took.mul_f64(part) * attempt.min(LONGEST_PAUSE)).await;
    }
}
