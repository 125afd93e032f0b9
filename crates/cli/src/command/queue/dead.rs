//! `queue dead`: items that had all their deliveries.

use std::time::SystemTime;

use seinpaal::{DeadLetter, ItemId, Queue, QueueError, Seinpaal};

use crate::{
    args::{
        Global,
        queue::{DeadArgs, Which},
    },
    connection::ask,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Column, Table, TableRoom},
        text::{age, delivery_end},
    },
};

/// How many are asked for at once.
const PAGE: u32 = 100;
/// How much of a payload stands in a table.
const MOST_SHOWN: usize = 40;

/// Lists, replays or drops dead letters.
pub(super) fn dead(global: &Global, args: &DeadArgs, voice: Voice) -> Result<Exit, Failure> {
    ask(global, voice, "seinpaal queue dead", &args.name, async |seinpaal: &Seinpaal| {
        let queue = seinpaal.queue(&args.name);
        match (args.replay, args.drop) {
            (Some(Which::One(id)), _) => queue.replay(id).await?,
            (Some(Which::All), _) => count(replay_all(&queue).await?)?,
            (_, Some(Which::One(id))) => queue.drop_dead(id).await?,
            (_, Some(Which::All)) => count(queue.purge_dead().await?)?,
            (None, None) if global.json => each_page(&queue, print_lines).await?,
            (None, None) => print_table(&queue, TableRoom::of_stdout(args.width.wide)).await?,
        }
        Ok(Exit::Success)
    })
}

fn count(number: u64) -> Result<(), Failure> {
    output::print(&format!("{number}\n"))
}

/// Replays all letters that are dead now. An item that dies again in the meantime keeps its number, and is not
/// replayed twice.
pub(crate) async fn replay_all(queue: &Queue) -> Result<u64, QueueError> {
    let mut ids = Vec::new();
    each_page(queue, |letters| {
        ids.extend(letters.iter().map(|letter| letter.id));
        Ok::<_, QueueError>(())
    })
    .await?;
    let mut replayed = 0;
    for id in ids {
        match queue.replay(id).await {
            Ok(()) => replayed += 1,
            // Somebody else was faster.
            Err(QueueError::NoSuchItem(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(replayed)
}

async fn each_page<E: From<QueueError>>(
    queue: &Queue,
    mut act: impl FnMut(&[DeadLetter]) -> Result<(), E>,
) -> Result<(), E> {
    let mut after: Option<ItemId> = None;
    loop {
        let letters = queue.dead(after, PAGE).await?;
        let Some(last) = letters.last() else { return Ok(()) };
        after = Some(last.id);
        act(&letters)?;
    }
}

fn print_lines(letters: &[DeadLetter]) -> Result<(), Failure> {
    let lines = letters.iter().map(|letter| json::line(&json::queue::DeadLetterJson::new(letter)));
    output::print(&lines.collect::<String>())
}

async fn print_table(queue: &Queue, room: TableRoom) -> Result<(), Failure> {
    let mut table = Table::new(&[
        Column::left("ITEM"),
        Column::right("DELIVERIES").rank(3),
        Column::right("DIED"),
        Column::left("GROUP").rank(2).cut(8),
        Column::left("REASON").cut(16),
        Column::left("PAYLOAD").rank(1).cut(10),
    ]);
    let mut is_empty = true;
    each_page(queue, |letters| {
        is_empty = false;
        letters.iter().for_each(|letter| table.row(row(letter)));
        Ok::<_, Failure>(())
    })
    .await?;
    if is_empty { Ok(()) } else { output::print(&table.render(room)) }
}

fn row(letter: &DeadLetter) -> Vec<String> {
    let since = SystemTime::now().duration_since(letter.died_at).unwrap_or_default();
    let last = letter.history.ends().last();
    vec![
        letter.id.to_string(),
        letter.attempt.to_string(),
        format!("{} ago", age(since)),
        letter.group.as_deref().unwrap_or_default().to_owned(),
        last.map(|past| delivery_end(&past.ending).to_owned()).unwrap_or_default(),
        glimpse(letter),
    ]
}

fn glimpse(letter: &DeadLetter) -> String {
    let text = String::from_utf8_lossy(&letter.payload);
    let start = text.chars().take(MOST_SHOWN).collect::<String>();
    if start.len() < letter.bytes as usize { format!("{start}…") } else { start }
}
