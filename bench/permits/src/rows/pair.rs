//! Server instructions of a pair, by callgrind: the difference of two run lengths, each on a fresh
//! server.

use std::io;

use super::{Bench, Row, counting, everyone};
use crate::{
    peer::{Peer, Plan},
    server::{Server, ask},
};

/// The number of pairs of the shorter run. The longer run has twice as many.
const PAIRS: u64 = 256;
const INSTRUCTIONS: &str = "instructions a pair";

pub(super) fn alone(bench: &mut Bench, row: &Row) -> io::Result<()> {
    bench.each(row, everyone, |peer| {
        let plan = Plan { limit: 4, ..Plan::default() };
        Ok(vec![(INSTRUCTIONS, instructions(peer, plan)?)])
    })?;
    if bench.wants_ours() {
        for (what, keys, arguments) in [("nothing else", 0, 0), ("our keys and arguments", 2, 4)] {
            let figure = (nothing(2 * PAIRS, keys, arguments)? - nothing(PAIRS, keys, arguments)?)
                / PAIRS as f64;
            let who = format!("a script that does nothing, twice, with {what}");
            bench.report.form(row, &who, &[(INSTRUCTIONS, figure)])?;
        }
    }
    Ok(())
}

pub(super) fn merged(bench: &mut Bench, row: &Row) -> io::Result<()> {
    let plan = |tasks| Plan { tasks, limit: tasks, ..Plan::default() };
    bench.each(row, counting, |peer| {
        let (some, many) = (instructions(peer, plan(16))?, instructions(peer, plan(64))?);
        Ok(vec![("of 16 tasks", some), ("of 64 tasks", many)])
    })
}

fn instructions(peer: &Peer, plan: Plan) -> io::Result<f64> {
    let count = (PAIRS / plan.tasks).max(8);
    let of = |count| {
        let server = Server::counted()?;
        let mut worker = peer.start(&server.url(), Plan { count, ..plan })?;
        server.count()?;
        worker.go()?;
        worker.took()?;
        server.counted_since()
    };
    Ok((of(2 * count)? - of(count)?) / (count * plan.tasks) as f64)
}

/// Calls a script that does nothing, twice for each of `pairs` pairs.
fn nothing(pairs: u64, keys: u64, arguments: u64) -> io::Result<f64> {
    let server = Server::counted()?;
    let mut connection = server.connect()?;
    let load = ask::<String>(&mut connection, redis::cmd("SCRIPT").arg(&["LOAD", "return 1"]))?;
    let mut nothing = redis::cmd("EVALSHA");
    nothing.arg(load).arg(keys);
    for _ in 0..keys {
        nothing.arg("seinpaal:{bench}:o");
    }
    for _ in 0..arguments {
        nothing.arg("0123456789abcdef0123456789abcdef");
    }
    server.count()?;
    for _ in 0..2 * pairs {
        let _: i64 = ask(&mut connection, &nothing)?;
    }
    server.counted_since()
}
