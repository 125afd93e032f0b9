//! Handles signals that were ignored before the tests began.

use std::{fs, sync::Once};

use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

/// Catches ignored signals. `nohup`, and a shell that starts the tests in the background, ignore
/// signals. All child processes inherit that, and a shell cannot even trap such a signal. A signal
/// that is caught here has its default effect in child processes, and still does nothing to the
/// tests.
pub(super) fn hear_what_is_ignored() {
    static HEARD: Once = Once::new();
    HEARD.call_once(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit()];
        for kind in kinds.into_iter().filter(|kind| ignored() & bit(*kind) != 0) {
            // A signal stays caught even after this listener is dropped.
            drop(signal(kind).unwrap());
        }
    });
}

fn bit(kind: SignalKind) -> u64 {
    1 << (kind.as_raw_value() - 1)
}

/// Returns the signals that this process ignores, one bit each.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}
