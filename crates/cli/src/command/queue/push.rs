//! `queue push`: pushes new items.

use std::{
    io::{self, Read},
    os::unix::ffi::OsStrExt,
};

use seinpaal::{MAX_PAYLOAD_BYTES, Push, PushError, Pushed, Seinpaal};

use super::lines::{InputLines, TooLong};
use crate::{
    args::{Global, queue as args},
    connection::{ask_at, patience},
    exit::{Exit, Failure},
    output::{self, Voice, json},
    settings,
};

/// Pushes, and prints the number of each item.
pub(super) fn push(global: &Global, args: &args::PushArgs, voice: Voice) -> Result<Exit, Failure> {
    let payload = args.payload.as_deref().map(|payload| read(payload.as_bytes())).transpose()?;
    let pusher = Pusher { args, is_json: global.json, voice };
    let choice = settings::choose(global)?;
    let (patience, client) = (patience(&choice), "seinpaal queue push");
    ask_at(&choice, patience, voice, client, &args.name, async |seinpaal| match payload {
        Some(payload) => pusher.push(seinpaal, vec![payload], None).await,
        None => pusher.push_lines(seinpaal).await,
    })?;
    Ok(Exit::Success)
}

fn read(payload: &[u8]) -> Result<Vec<u8>, Failure> {
    if payload != b"-" {
        return Ok(payload.to_vec());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to see that the input is too long, even if it never
    // ends.
    let most = MAX_PAYLOAD_BYTES as u64 + 1;
    io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
    if bytes.len() > MAX_PAYLOAD_BYTES { Err(Failure::usage(TooLong)) } else { Ok(bytes) }
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::internal(format!("cannot read stdin: {error}"))
}

/// The settings of a push.
struct Pusher<'a> {
    args: &'a args::PushArgs,
    is_json: bool,
    voice: Voice,
}

impl Pusher<'_> {
    /// Pushes lines as they arrive. While one batch is being pushed, the next lines are read.
    async fn push_lines(&self, seinpaal: &Seinpaal) -> Result<(), Failure> {
        let mut lines = InputLines::read(io::stdin());
        let mut first = 1;
        loop {
            let batch = lines.next().await;
            let number = batch.lines.len();
            self.push(seinpaal, batch.lines, Some(first)).await?;
            first += number;
            match batch.end {
                None => {}
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) => return Err(Failure::usage(format!("line {first}: {error}"))),
            }
        }
    }

    /// Pushes payloads, which are the lines from number `first` on. With `None` there is one
    /// payload, and it is no line.
    async fn push(
        &self,
        seinpaal: &Seinpaal,
        payloads: Vec<Vec<u8>>,
        first: Option<usize>,
    ) -> Result<(), Failure> {
        let pushes = payloads.into_iter().map(|payload| self.described(payload));
        let answers = seinpaal.queue(&self.args.name).push_all(pushes).await;
        // The items that were pushed exist, so their numbers are printed even if one was refused.
        let mut text = String::new();
        answers.iter().flatten().for_each(|pushed| text.push_str(&self.shown(pushed)));
        output::print(&text)?;
        let refused =
            answers.into_iter().enumerate().find_map(|(at, answer)| Some((at, answer.err()?)));
        refused.map_or(Ok(()), |(at, error)| Err(failure(first.map(|first| first + at), error)))
    }

    fn described(&self, payload: Vec<u8>) -> Push {
        let args = self.args;
        let mut push = Push::new(payload).priority(args.priority).deliveries(args.deliveries);
        if let Some(delay) = args.delay {
            push = push.delay(delay);
        }
        if let Some(due) = args.due {
            push = push.due(due);
        }
        if let Some(group) = &args.group {
            push = push.group(group);
        }
        if let Some(key) = &args.dedup {
            push = push.dedup(key, args.dedup_window);
        }
        args.labels.iter().fold(push, |push, (key, value)| push.label(key, value))
    }

    fn shown(&self, pushed: &Pushed) -> String {
        let Pushed { id, is_duplicate, .. } = *pushed;
        if self.is_json {
            return json::line(&json::queue::PushedJson {
                name: &self.args.name,
                id: id.0,
                duplicate: is_duplicate,
            });
        }
        if is_duplicate {
            self.voice.say(format!("{}: a duplicate: item {id} was pushed before", self.args.name));
        }
        format!("{id}\n")
    }
}

fn failure(line: Option<usize>, error: PushError) -> Failure {
    let Failure { exit, message } = error.into();
    let message = match line {
        Some(line) => message.map(|message| format!("line {line}: {message}")),
        None => message,
    };
    Failure { exit, message }
}
