//! Rows about Seinpaal's own costs: the difference in server instructions, by callgrind, between
//! two windows of different lengths.

mod scenes;

use std::{io, time::Duration};

use seinpaal::Seinpaal;

use self::scenes::{
    NAME, acquire, beside_holders, beside_waiters, connect, crowded, difference, drop_and_ask,
    hand_over, mutex, pairs, readers_and_writers, renew, writes,
};
use super::{Bench, Row, block_on};
use crate::server::Server;

const SIZES: [u32; 3] = [10, 1_000, 10_000];
const CROWDS: [u32; 5] = [2, 4, 8, 16, 64];
const SHORT: Duration = Duration::from_secs(6);
/// A server under callgrind needs some ten seconds for 10 000 acquires.
const LONG: Duration = Duration::from_secs(18);

pub(super) fn dropped(bench: &mut Bench, row: &Row) -> io::Result<()> {
    let figure = ours(async |server| {
        let semaphore = connect(server).await?.semaphore(NAME).limit(4);
        difference(server, async |times| drop_and_ask(&semaphore, times).await).await
    });
    say(bench, row, "Seinpaal", "instructions a pair", figure)
}

pub(super) fn handover(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for (who, are_apart) in
        [("Seinpaal, two clients", true), ("Seinpaal, two tasks of one client", false)]
    {
        let figure = ours(async |server| {
            let first = connect(server).await?;
            let second = if are_apart { connect(server).await? } else { first.clone() };
            let pair = [first, second].map(|seinpaal| seinpaal.semaphore(NAME).limit(1));
            difference(server, async |times| hand_over(&pair, times).await).await
        });
        say(bench, row, who, "instructions a grant", figure)?;
    }
    Ok(())
}

pub(super) fn renewal(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for (permits, ttl) in [(1, SHORT), (100, SHORT), (10_000, LONG)] {
        let figure = ours(async |server| renew(server, permits, ttl).await);
        say(bench, row, &format!("Seinpaal, {permits} permits"), "instructions a renewal", figure)?;
    }
    Ok(())
}

/// Measures pairs with the restart guard and without it. A measurement with the guard begins after
/// the guard of the new server has ended.
pub(super) fn guarded(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for (who, options) in [("Seinpaal", "?restart-guard=on"), ("Seinpaal without the guard", "")] {
        let figure = ours(async |server| {
            let url = server.url() + options;
            let seinpaal = Seinpaal::connect(&url).await.map_err(io::Error::other)?;
            let semaphore = seinpaal.semaphore(NAME).limit(4);
            difference(server, async |times| pairs(&semaphore, times).await).await
        });
        say(bench, row, who, "instructions a pair", figure)?;
    }
    Ok(())
}

pub(super) fn write(bench: &mut Bench, row: &Row) -> io::Result<()> {
    let figure = ours(async |server| {
        let permit = acquire(&connect(server).await?.semaphore(NAME).limit(1)).await?;
        difference(server, async |times| writes(&permit, times).await).await
    });
    say(bench, row, "Seinpaal", "instructions a write", figure)
}

pub(super) fn growth(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for others in SIZES {
        let figure = ours(async |server| beside_holders(server, others).await);
        say(
            bench,
            row,
            &format!("Seinpaal, beside {others} holders"),
            "instructions a pair",
            figure,
        )?;
    }
    for others in SIZES {
        let figure = ours(async |server| beside_waiters(server, others).await);
        say(
            bench,
            row,
            &format!("Seinpaal, beside {others} waiters"),
            "instructions a pair",
            figure,
        )?;
    }
    Ok(())
}

/// Measures clients that contend. Each has a connection of its own, and asks again as soon as it
/// has released.
pub(super) fn crowd(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for clients in CROWDS {
        let figure = ours(async |server| crowded(server, clients, mutex).await);
        say(bench, row, &format!("Seinpaal, {clients} clients"), "instructions a grant", figure)?;
    }
    for clients in CROWDS {
        let figure = ours(async |server| crowded(server, clients, readers_and_writers).await);
        let who = format!("Seinpaal, {clients} clients, every fourth time to write");
        say(bench, row, &who, "instructions a grant", figure)?;
    }
    Ok(())
}

fn ours(scene: impl AsyncFnOnce(&Server) -> io::Result<f64>) -> io::Result<f64> {
    let server = Server::counted()?;
    block_on(scene(&server))
}

fn say(
    bench: &mut Bench,
    row: &Row,
    who: &str,
    what: &str,
    figure: io::Result<f64>,
) -> io::Result<()> {
    match figure {
        Ok(figure) => bench.report.form(row, who, &[(what, figure)]),
        Err(error) => bench.report.left_out(row, (who, ""), &error),
    }
}
