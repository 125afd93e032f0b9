//! `queue dead`: items that had all their deliveries.

use std::time::SystemTime;

use seinpaal::{DeadLetter, ItemId, Queue, QueueError, Seinpaal};
use seinpaal_words::matching::Matching;

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
    let matching = all_that_match(args.matching.as_deref());
    only_of_all(args)?;
    ask(global, voice, "seinpaal queue dead", &args.name, async |seinpaal: &Seinpaal| {
        let queue = seinpaal.queue(&args.name);
        let wanted = |letter: &DeadLetter| matching.has_dead(letter);
        match (args.replay, args.drop) {
            (Some(Which::One(id)), _) => queue.replay(id).await?,
            (Some(Which::All), _) => count(queue.replay_all(wanted).await?)?,
            (_, Some(Which::One(id))) => queue.drop_dead(id).await?,
            (_, Some(Which::All)) if args.matching.is_none() => count(queue.purge_dead().await?)?,
            (_, Some(Which::All)) => count(queue.drop_all_dead(wanted).await?)?,
            (None, None) if global.json => each_page(&queue, &matching, print_lines).await?,
            (None, None) => {
                print_table(&queue, &matching, TableRoom::of_stdout(args.width.wide)).await?;
            }
        }
        Ok(Exit::Success)
    })
}

/// A text chooses among all. One item is named by its number.
fn only_of_all(args: &DeadArgs) -> Result<(), Failure> {
    let is_one = |which: Option<Which>| matches!(which, Some(Which::One(_)));
    match args.matching {
        Some(_) if is_one(args.replay) || is_one(args.drop) => Err(one_has_a_number()),
        _ => Ok(()),
    }
}

pub(super) fn one_has_a_number() -> Failure {
    Failure::new(Exit::Usage, "--matching chooses among all: write `all` instead of a number")
}

/// The items that this text chooses.
pub(super) fn all_that_match(text: Option<&str>) -> Matching {
    Matching { text: text.unwrap_or_default().to_owned(), with_payloads: true, until: None }
}

pub(super) fn count(number: u64) -> Result<(), Failure> {
    output::print(&format!("{number}\n"))
}

async fn each_page<E: From<QueueError>>(
    queue: &Queue,
    matching: &Matching,
    mut act: impl FnMut(&[DeadLetter]) -> Result<(), E>,
) -> Result<(), E> {
    let mut after: Option<ItemId> = None;
    loop {
        let mut letters = queue.dead(after, PAGE).await?;
        let Some(last) = letters.last() else { return Ok(()) };
        after = Some(last.id);
        letters.retain(|letter| matching.has_dead(letter));
        act(&letters)?;
    }
}

fn print_lines(letters: &[DeadLetter]) -> Result<(), Failure> {
    let lines = letters.iter().map(|letter| json::line(&json::queue::DeadLetterJson::new(letter)));
    output::print(&lines.collect::<String>())
}

async fn print_table(queue: &Queue, matching: &Matching, room: TableRoom) -> Result<(), Failure> {
    let mut table = Table::new(&[
        Column::left("ITEM"),
        Column::right("DELIVERIES").rank(3),
        Column::right("DIED"),
        Column::left("GROUP").rank(2).cut(8),
        Column::left("REASON").cut(16),
        Column::left("PAYLOAD").rank(1).cut(10),
    ]);
    let mut is_empty = true;
    each_page(queue, matching, |letters| {
        is_empty &= letters.is_empty();
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
