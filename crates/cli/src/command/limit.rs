//! `limit`: prints or changes how many permits exist.

use crate::{
    args::{Global, LimitArgs},
    connection::ask,
    exit::{Exit, Failure},
    output::{self, Voice, json},
};

/// Prints the limit, or changes it and prints nothing.
pub(super) fn limit(global: &Global, args: &LimitArgs, voice: Voice) -> Result<Exit, Failure> {
    let stored = ask(global, voice, "seinpaal limit", &args.name, async |seinpaal| {
        let semaphore = seinpaal.semaphore(&args.name);
        match args.limit {
            Some(limit) => semaphore.set_limit(limit).await?,
            None if let Some(names) = &args.slots => {
                semaphore.name_slots(names.iter()).await?;
            }
            None if args.unset => semaphore.unset_limit().await?,
            None => return Ok(Some(semaphore.stored_limit().await?)),
        }
        Ok(None)
    })?;
    let Some(limit) = stored else { return Ok(Exit::Success) };
    let text = if global.json {
        json::line(&json::LimitJson { name: &args.name, limit })
    } else {
        format!("{limit}\n")
    };
    output::print(&text).map(|()| Exit::Success)
}
