//! Very many streams at once, some of them read by nobody.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use super::{
    Fallible, Plan,
    page::{self, Page},
    process::Serve,
    say,
};

/// The kernel ends a connection that accepts nothing after 30 s.
const BOUND: Duration = Duration::from_secs(90);

/// Opens the pages that nobody reads.
pub(super) async fn open(plan: &Plan, serve: &Serve) -> Fallible<Vec<TcpStream>> {
    let mut deaf = Vec::new();
    for number in 0..plan.deaf {
        deaf.push(page::unread(serve.address(), &plan.name(number)).await?);
    }
    Ok(deaf)
}

/// What one page more gets, how long other pages take, and what is left when all have gone.
pub(super) async fn look(
    plan: &Plan,
    serve: &Serve,
    open: Vec<Page>,
    deaf: Vec<TcpStream>,
) -> Fallible<()> {
    if plan.deaf == 0 {
        return Ok(());
    }
    say("open files of serve", &format!("{}", serve.files()?));
    let began = Instant::now();
    page::get(serve.address(), "/name?n=load%2F000").await?;
    say("a page that somebody opens meanwhile", &format!("{:.2} s", began.elapsed().as_secs_f64()));
    let began = Instant::now();
    while serve.files()? > open.len() + 100 && began.elapsed() < BOUND {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let (left, seconds) = (serve.files()?.saturating_sub(open.len()), began.elapsed().as_secs());
    say("files that are not of pages that are read", &format!("{left}, {seconds} s later"));
    say("memory of serve then", &format!("{:.0} MB", serve.memory()? as f64 / 1e6));
    drop(deaf);
    // The places of those that were not read are taken by others, until there is none.
    let mut more = Vec::new();
    let refused = loop {
        let answer = page::begin(serve.address(), "/live?of=name&n=more").await?;
        if !answer.1.starts_with("HTTP/1.1 200") {
            break answer.1;
        }
        more.push(answer.0);
    };
    let words = refused.lines().last().unwrap_or_default();
    say("streams until one is refused", &format!("{}", open.len() + more.len()));
    say("what that one gets", &format!("{}: {words}", refused.lines().next().unwrap_or_default()));
    drop((open, more));
    let began = Instant::now();
    while serve.files()? > 100 && began.elapsed() < BOUND {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let seconds = began.elapsed().as_secs_f64();
    say("all closed: open files of serve", &format!("{} after {seconds:.1} s", serve.files()?));
    say("memory of serve then", &format!("{:.0} MB", serve.memory()? as f64 / 1e6));
    Ok(())
}
