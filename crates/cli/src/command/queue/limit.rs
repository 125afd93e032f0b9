//! `queue limit`: prints or changes how many items may be in work at once.

use seinpaal::{QueueSnapshot, Seinpaal};

use crate::{
    args::{
        Global,
        queue::{Most, QueueLimitArgs},
    },
    connection::ask,
    exit::{Exit, Failure},
    output::{self, Voice, json},
};

/// Prints the limits, or changes them and prints nothing.
pub(super) fn limit(global: &Global, args: &QueueLimitArgs, voice: Voice) -> Result<Exit, Failure> {
    let stored =
        ask(global, voice, "seinpaal queue limit", &args.name, async |seinpaal: &Seinpaal| {
            let queue = seinpaal.queue(&args.name);
            if let Some(Most(limit)) = args.limit {
                queue.limit(limit).await?;
            }
            if let Some(Most(limit)) = args.group {
                queue.group_limit(limit).await?;
            }
            let is_question = args.limit.is_none() && args.group.is_none();
            Ok(if is_question { Some(queue.snapshot().await?) } else { None })
        })?;
    let Some(snapshot) = stored else { return Ok(Exit::Success) };
    let text = if global.json { json(&snapshot) } else { words(&snapshot) };
    output::print(&text).map(|()| Exit::Success)
}

fn json(snapshot: &QueueSnapshot) -> String {
    let QueueSnapshot { name, limit, group_limit, .. } = snapshot;
    json::line(&json::queue::Limits { name, limit: *limit, group_limit: *group_limit })
}

/// Returns the limit, and the limit of groups if there is one.
fn words(snapshot: &QueueSnapshot) -> String {
    let limit = snapshot.limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    match snapshot.group_limit {
        Some(group_limit) => format!("{limit}, {group_limit} a group\n"),
        None => format!("{limit}\n"),
    }
}
