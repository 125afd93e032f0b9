//! `limit`: prints or changes how many permits exist.

use seinpaal::{Kind, Snapshot};

use super::unused;
use crate::{
    args::{Global, LimitArgs},
    connection::ask,
    exit::{Exit, Failure},
    output::{self, Voice, json},
};

/// Prints the limit, or changes it and prints nothing.
pub(super) fn limit(global: &Global, args: &LimitArgs, voice: Voice) -> Result<Exit, Failure> {
    let mut is_question = false;
    let (seen, remark) = ask(global, voice, "seinpaal limit", &args.name, async |seinpaal| {
        let semaphore = seinpaal.semaphore(&args.name);
        let seen = semaphore.summary(0).await?;
        match args.limit {
            Some(limit) => semaphore.set_limit(limit).await?,
            None if let Some(names) = &args.slots => {
                semaphore.name_slots(names.iter()).await?;
            }
            None if args.unset => semaphore.unset_limit().await?,
            None => is_question = true,
        }
        let remark = unused::remark(seinpaal, &seen, voice).await;
        Ok((seen, remark))
    })?;
    let text = if !is_question {
        String::new()
    } else if global.json {
        let (limit, slot_names) = (seen.limit, seen.slot_names.iter().collect());
        json::line(&json::LimitJson { name: &args.name, limit, slot_names })
    } else {
        words(&seen)
    };
    output::print(&text)?;
    remark.iter().for_each(|words| voice.say(words));
    if is_question && !global.json && !seen.slot_names.is_empty() {
        // Scripts read the number alone.
        voice.say(format!("{}: its slots are {}", args.name, seen.slot_names));
    }
    Ok(Exit::Success)
}

fn words(seen: &Snapshot) -> String {
    match seen.kind {
        // The limit of such a lock is not the user's.
        Some(Kind::RwLock) => "none\n".to_owned(),
        _ => format!("{}\n", seen.limit),
    }
}
