//! A Redis that refuses a late holder without fences, because the permit guards the write. There
//! are two processes. The first holds the permit and is stopped (`SIGSTOP`) before it writes, until
//! the second has the permit and has written.
//!
//! Ends with status 0 only if the late holder was refused. Needs a Redis:
//! `cargo run -p seinpaal --example guarded_write -- redis://localhost`

use std::{
    env,
    error::Error,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use seinpaal::{
    GuardedError, Permit, Seinpaal,
    blocking::{guarded, wait},
};

/// The ttl is short, so that the lease of a stopped process ends soon.
const TTL: Duration = Duration::from_millis(500);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let url = arguments.next().ok_or("where is the Redis? For example redis://localhost")?;
    if arguments.next().is_some() { hold(&url) } else { take_over(&url) }
}

fn acquire(url: &str) -> Result<Permit, Box<dyn Error>> {
    let seinpaal = wait(Seinpaal::builder(url).ttl(TTL).connect())?;
    Ok(wait(seinpaal.semaphore("guarded-write").limit(1).acquire())?)
}

/// The first process: it holds the permit, reports that, is stopped, and then writes.
fn hold(url: &str) -> Result<(), Box<dyn Error>> {
    let permit = acquire(url)?;
    println!("{}", permit.fence());
    let mut go_on = String::new();
    std::io::stdin().read_line(&mut go_on)?;
    match guarded(&permit, |tx| {
        tx.set(permit.key("text"), "old");
    }) {
        Err(GuardedError::NotHeld) => Ok(()),
        other => Err(format!("the late holder was not refused: {other:?}").into()),
    }
}

/// The second process: it stops the first, gets the permit when the first one's lease has ended,
/// and writes.
fn take_over(url: &str) -> Result<(), Box<dyn Error>> {
    let mut holder = Command::new(env::current_exe()?)
        .args([url, "hold"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let outcome = stop_and_write(url, &mut holder);
    let _ = holder.kill(); // it has ended, unless something went wrong
    holder.wait()?;
    outcome
}

fn stop_and_write(url: &str, holder: &mut Child) -> Result<(), Box<dyn Error>> {
    let mut fence = String::new();
    BufReader::new(holder.stdout.take().ok_or("no output")?).read_line(&mut fence)?;
    println!("fence {}: holds, and is stopped", fence.trim_end());
    let pid = Pid::from_child(holder);
    kill_process(pid, Signal::STOP)?;
    let permit = acquire(url)?;
    guarded(&permit, |tx| {
        tx.set(permit.key("text"), "new");
    })?;
    println!("fence {}: holds, and has written", permit.fence());
    drop(holder.stdin.take()); // the first process waits for this when it goes on
    kill_process(pid, Signal::CONT)?;
    let is_refused = holder.wait()?.success();
    let text = guarded(&permit, |tx| {
        tx.get(permit.key("text"));
    })?;
    if is_refused && text[0].as_bytes() == Some(b"new") {
        println!("fence {}: goes on, and is refused", fence.trim_end());
        return Ok(());
    }
    Err(format!("the late holder was not refused: {text:?}").into())
}
