//! Everybody pushes, pops, finishes and fails over bad links.

use alloc::{string::String, vec::Vec};
use std::format;

use super::{ON_AND_ON, ONCE, TTL, net::*};
use crate::{
    queue::{
        FailureReason, How, Reply, State,
        session::{Answer, Session, Until},
    },
    time::{MILLISECOND, SECOND},
};

impl Net {
    /// Somebody does something, and a little time passes.
    fn do_something(&mut self, turn: usize, ttl: u64) {
        let who = self.draw(self.sessions.len() as u64) as usize;
        match self.draw(8) {
            0 | 1 => {
                self.push_text(who, &format!("{turn}"));
            }
            2 => {
                self.pop(who, want(1, ONCE, ttl));
            }
            3 if self.draw(4) == 0 => {
                self.pop(who, want(2, ON_AND_ON, ttl));
            }
            4 => self.unpop_one(who),
            _ => self.finish_one(who),
        }
        let pause = self.draw(400) * MILLISECOND;
        self.run_for(pause);
    }

    fn unpop_one(&mut self, who: usize) {
        let its = self.wanted.keys().find(|(owner, _)| *owner == who).copied();
        if let Some(key) = its {
            self.wanted.remove(&key);
            self.sessions[who].unpop(key.1);
        }
    }

    fn finish_one(&mut self, who: usize) {
        let Some(delivery) = self.in_hand(who).first().copied() else { return };
        let how = match self.draw(6) {
            0 => How::GiveBack { delay: 0 },
            1 => How::Fail { delay: 100 * MILLISECOND, reason: FailureReason::new("no") },
            _ => How::Acknowledge,
        };
        self.finish(delivery, how);
    }

    /// Returns whether nothing is ready, delayed or in work.
    fn is_done(&mut self) -> bool {
        let Ok(head) = self.state.head();
        head.ready + head.delayed + head.in_work == 0
    }

    fn acknowledge_everything(&mut self) {
        let held: Vec<_> = self.held.keys().copied().collect();
        held.into_iter().for_each(|delivery| self.finish(delivery, How::Acknowledge));
    }
}

/// Whatever links do: nothing is pushed twice, nothing is in two hands, nobody believes in what has
/// ended, nothing that was acknowledged comes again; and once the links are good everything is
/// delivered and nothing is left.
#[test]
fn over_lossy_repeating_reordering_links_everything_is_done_once_and_everybody_is_served() {
    for seed in 1..=60 {
        let mut net = Net::new(4, seed);
        let ttl = if seed % 2 == 0 { 2 * SECOND } else { TTL };
        net.fate =
            Fate { lose_requests: 15, lose_replies: 15, repeat: 15, slow: true, ..Fate::default() };
        net.fate.lose_wakeups = seed % 3 == 0;
        for turn in 0..400 {
            net.do_something(turn, ttl);
            net.check();
        }
        net.fate = Fate::default();
        net.pop(0, want(8, Until::Unpopped, ttl));
        for _ in 0..300 {
            net.acknowledge_everything();
            net.run_for(SECOND);
            net.check();
        }
        let (once, again): (Vec<_>, Vec<_>) = net.pushed.iter().partition(|(_, n)| **n == 1);
        assert!(again.is_empty(), "seed {seed}: pushed twice: {again:?}");
        let told = net.answers.values();
        let sure = told.filter(|answer| matches!(answer, Answer::Done(Reply::Pushed { .. })));
        assert!(sure.count() <= once.len(), "seed {seed}: something was pushed and is not there");
        assert!(net.is_done(), "seed {seed}: {:?}", net.state);
        for (who, pop) in net.wanted.keys().copied().collect::<Vec<_>>() {
            net.sessions[who].unpop(pop);
        }
        net.run_for(10 * SECOND);
        assert!(net.state.is_at_rest(), "seed {seed}: something is left: {:?}", net.state);
        assert!(net.sessions.iter().all(Session::is_idle), "seed {seed}");
    }
}

#[test]
fn a_popper_over_bad_links_is_served_before_long() {
    for seed in 1..=40 {
        let mut net = Net::new(2, seed);
        net.fate = Fate { lose_requests: 20, lose_replies: 20, slow: true, ..Fate::default() };
        net.fate.lose_wakeups = true;
        net.pop(1, want(1, ON_AND_ON, TTL));
        net.run_for(10 * SECOND);
        for i in 0..10 {
            net.push_text(0, &format!("{i}"));
            let mut waited = 0;
            while net.held.is_empty() {
                net.run_for(SECOND);
                waited += 1;
                assert!(waited <= 130, "seed {seed}: item {i} is not delivered");
            }
            net.acknowledge_everything();
        }
    }
}

#[test]
fn texts_are_told_apart() {
    let mut net = Net::new(1, 7);
    net.push_text(0, "a");
    net.push_text(0, "a");
    net.run_for(SECOND);
    assert_eq!(net.pushed[&String::from("a")], 2, "the checks above can fail");
}
