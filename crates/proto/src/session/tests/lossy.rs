//! Links that lose, repeat and reorder, and what clients believe behind them.

use super::{
    TTL,
    net::{Fate, Net},
    want,
};
use crate::{
    session::{JumpBound, SessionConfig},
    time::{MILLISECOND, SECOND},
};

/// Clients come and go over bad links; what they believe never adds up to more than the limit, and
/// once the links are good again everybody is served and nothing is left.
#[test]
fn over_lossy_repeating_reordering_links_belief_never_exceeds_the_limit() {
    for seed in 1..=60 {
        let mut net = Net::new(4, seed);
        let ttl = if seed % 2 == 0 { 2 * SECOND } else { TTL };
        net.fate =
            Fate { lose_requests: 15, lose_replies: 15, repeat: 15, slow: true, ..Fate::default() };
        net.fate.lose_wakeups = seed % 3 == 0;
        for _ in 0..400 {
            net.do_something(3, ttl);
            net.check(3);
        }
        net.fate = Fate::default();
        for _ in 0..600 {
            net.release_everything();
            net.run_for(SECOND);
            net.check(3);
        }
        // An untouched name's clock stands still: what a late copy of a request left there needs
        // looking at.
        for _ in 0..60 {
            net.run_for(SECOND);
            net.touch();
        }
        assert!(net.waits().is_empty(), "seed {seed}: {:?} still wait", net.waits());
        assert!(net.state.is_empty(), "seed {seed}: something is left: {:?}", net.state);
        assert!(net.sessions.iter().all(crate::session::Session::is_idle), "seed {seed}");
    }
}

/// The most permits that clients believe to hold after the holder of the only one was cut off, with
/// the smallest margin that there is.
fn believed_after_a_cut(count_from_reply: bool) -> u32 {
    let config = SessionConfig { clock_bound: JumpBound::Off, ..SessionConfig::default() };
    let mut net = Net::with(2, 7, &config);
    net.fate = Fate { lag: 300 * MILLISECOND, count_from_reply, ..Fate::default() };
    net.acquire(0, want(1, 1, 3 * SECOND));
    net.run_for(700 * MILLISECOND); // granted, and not yet renewed
    net.fate = Fate { cut_off: Some(0), count_from_reply, ..Fate::default() };
    net.acquire(1, want(1, 1, 3 * SECOND));
    let moments = (0..600).map(|_| {
        net.run_for(10 * MILLISECOND);
        net.believed()
    });
    moments.max().unwrap_or(0)
}

#[test]
fn a_session_that_counted_from_the_reply_would_be_found_out() {
    assert_eq!(believed_after_a_cut(false), 1);
    assert_eq!(believed_after_a_cut(true), 2);
}
