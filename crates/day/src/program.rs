//! A program that uses the crate as its documentation shows, with defaults.

use std::{env, io, process, time::Duration};

use seinpaal::{Permit, Seinpaal};
use tokio::time::sleep;

use crate::{
    cmd::DONE,
    history::{CmdVisit, DayWhat},
    world::DayWorld,
};

/// The ttl of a caller that states none.
const TTL: Duration = Duration::from_secs(30);
/// The smallest share of a lease, in thousandths, that may be left on a permit just granted: two
/// thirds, less the time of a round trip on a busy machine.
const LEAST_PERMILLE: u64 = 500;

/// `day program NAME LIMIT SECONDS`: acquires a permit, works while it is held, and releases it.
///
/// # Errors
/// If the store cannot be reached, or the permit was lost.
pub fn main(args: &[String]) -> io::Result<i32> {
    let (world, job) = DayWorld::found()?;
    let [name, limit, seconds] = args else {
        return Err(io::Error::other("day program NAME LIMIT SECONDS"));
    };
    let bad = |_| io::Error::other("not a number");
    let limit = limit.parse().map_err(bad)?;
    let time = Duration::from_secs_f64(seconds.parse().map_err(|_| io::Error::other("no time"))?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(work(&world, &job, name, limit, time)).map_err(io::Error::other)?;
    print!("{DONE}");
    Ok(0)
}

async fn work(
    world: &DayWorld,
    job: &str,
    name: &str,
    limit: u32,
    time: Duration,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let seinpaal = Seinpaal::connect(&env::var("SEINPAAL_STORE")?).await?;
    let permit = seinpaal.semaphore(name).limit(limit).acquire().await?;
    look(world, job, &permit, seinpaal.schedule(TTL).ttl());
    let worked = permit.while_held(async {
        tokio::select! {
            () = sleep(time) => {}
            () = permit.danger() => wrong(world, job, "in danger, though nothing has failed"),
        }
    });
    let ended = worked.await;
    world.note(job, DayWhat::Left { status: i32::from(ended.is_err()) });
    ended?;
    permit.release().await?;
    Ok(())
}

fn look(world: &DayWorld, job: &str, permit: &Permit, ttl: Duration) {
    if let Some(left) = permit.remaining() {
        let permille = (left.as_millis() * 1000 / ttl.as_millis().max(1)) as u64;
        world.note(job, DayWhat::Remaining { permille });
        if permille < LEAST_PERMILLE {
            wrong(world, job, &format!("{left:?} of {ttl:?} is left of a permit just granted"));
        }
    }
    world.note(
        job,
        DayWhat::Entered(CmdVisit {
            name: permit.name().to_owned(),
            permits: permit.permits(),
            slot: Some(permit.slot()),
            fence: Some(permit.fence().0),
            pid: process::id(),
        }),
    );
}

fn wrong(world: &DayWorld, job: &str, story: &str) {
    world.note(job, DayWhat::Wrong { story: story.to_owned() });
}
