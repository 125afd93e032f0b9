//! The clock of all histories. It never steps, it counts while the machine sleeps, and all
//! processes read the same time.

/// Returns the time since the machine started, in microseconds.
#[must_use]
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // Neither part is negative on this clock.
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000
}
