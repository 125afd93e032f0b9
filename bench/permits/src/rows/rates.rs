//! Pairs a second, and the processor time of a pair. The load of a machine changes from minute to
//! minute, so the rounds of all peers take turns, and the ratio to Seinpaal is the median of the
//! rounds' ratios.

use std::io;

use super::{Bench, Row, counting, everyone};
use crate::{
    peer::{Peer, Plan},
    server::Server,
    times::median,
    worker::Worker,
};

const ROUNDS: usize = 7;
const MILLIS: u64 = 500;

pub(super) fn alone(bench: &mut Bench, row: &Row) -> io::Result<()> {
    turn_about(bench, row, everyone, Plan { limit: 4, ..Plan::default() })
}

pub(super) fn apart(bench: &mut Bench, row: &Row) -> io::Result<()> {
    turn_about(bench, row, everyone, Plan { tasks: 64, names: 64, ..Plan::default() })
}

pub(super) fn together(bench: &mut Bench, row: &Row) -> io::Result<()> {
    turn_about(bench, row, counting, Plan { tasks: 64, limit: 64, ..Plan::default() })
}

/// A peer at work on a server of its own.
struct Contestant {
    peer: Peer,
    server: Server,
    worker: Worker,
    rounds: Vec<Round>,
}

/// Pairs a second, and microseconds a pair.
struct Round {
    rate: f64,
    server: f64,
    client: f64,
}

fn turn_about(bench: &mut Bench, row: &Row, fits: fn(&Peer) -> bool, plan: Plan) -> io::Result<()> {
    let plan = Plan { millis: MILLIS, ..plan };
    let mut contestants = Vec::new();
    for peer in bench.peers(row, fits)? {
        let who = (peer.shown, peer.version);
        match Contestant::start(peer, plan) {
            Ok(contestant) => contestants.push(contestant),
            Err(error) => bench.report.left_out(row, who, &error)?,
        }
    }
    for _ in 0..ROUNDS {
        contestants.iter_mut().try_for_each(Contestant::round)?;
    }
    let ours: Vec<f64> = contestants
        .iter()
        .filter(|contestant| contestant.peer.is_ours())
        .flat_map(|contestant| contestant.rounds.iter().map(|round| round.rate))
        .collect();
    contestants.iter().try_for_each(|contestant| contestant.say(bench, row, &ours))
}

impl Contestant {
    fn start(peer: Peer, plan: Plan) -> io::Result<Self> {
        let server = Server::start()?;
        let mut worker = peer.start(&server.url(), plan)?;
        worker.go()?;
        worker.took()?; // a first round, so that just-in-time compilers have seen the loop
        Ok(Self { peer, server, worker, rounds: Vec::new() })
    }

    fn round(&mut self) -> io::Result<()> {
        let (server, client) = (self.server.cpu(), self.worker.cpu());
        self.worker.go()?;
        let took = self.worker.took()?;
        let a_pair = |nanoseconds: f64| nanoseconds / 1e3 / took.pairs;
        let server = a_pair(self.server.cpu() - server);
        let client = a_pair(self.worker.cpu() - client);
        self.rounds.push(Round { rate: took.pairs * 1e9 / took.nanoseconds, server, client });
        Ok(())
    }

    fn say(&self, bench: &mut Bench, row: &Row, ours: &[f64]) -> io::Result<()> {
        let middle = |of: fn(&Round) -> f64| median(self.rounds.iter().map(of));
        let ratios = ours.iter().zip(&self.rounds).map(|(ours, round)| ours / round.rate);
        let figures = [
            ("pairs a second", middle(|round| round.rate)),
            ("server µs a pair", middle(|round| round.server)),
            ("client µs a pair", middle(|round| round.client)),
            ("ours, times it", median(ratios)),
        ];
        bench.report.of(row, &self.peer, &figures)
    }
}
