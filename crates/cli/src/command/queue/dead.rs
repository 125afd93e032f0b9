//! `queue dead`: lists, replays or drops items that had all their deliveries.

use seinpaal::{ItemState, ListedItem, ListedState, Queue, Seinpaal};
use seinpaal_words::matching::Matching;

use super::items::{ago, all_that_match, each_page, glimpse, print_lines};

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
        text::delivery_end,
    },
};

/// Lists, replays or drops dead letters.
pub(super) fn dead(global: &Global, args: &DeadArgs, voice: Voice) -> Result<Exit, Failure> {
    let matching = all_that_match(args.matching.as_deref());
    only_of_all(args)?;
    ask(global, voice, "seinpaal queue dead", &args.name, async |seinpaal: &Seinpaal| {
        let queue = seinpaal.queue(&args.name);
        let wanted = |letter: &ListedItem| matching.has(letter);
        let count = |items| print_count(global, &args.name, items);
        match (args.replay, args.drop) {
            (Some(Which::One(id)), _) => queue.replay(id).await?,
            (Some(Which::All), _) => count(queue.replay_all(wanted).await?)?,
            (_, Some(Which::One(id))) => queue.drop_dead(id).await?,
            // Without a text the store drops all dead letters in one call, and they need not be
            // listed first.
            (_, Some(Which::All)) if args.matching.is_none() => count(queue.purge_dead().await?)?,
            (_, Some(Which::All)) => {
                count(queue.remove_all(ItemState::Dead, wanted).await?)?;
            }
            (None, None) if global.json => {
                each_page(&queue, ItemState::Dead, &matching, print_lines).await?;
            }
            (None, None) => {
                print_table(&queue, &matching, TableRoom::of_stdout(args.width.wide)).await?;
            }
        }
        Ok(Exit::Success)
    })
}

/// Refuses a text beside the number of one item, because a text selects among all items.
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

/// Prints how many items of a queue were changed.
pub(super) fn print_count(global: &Global, name: &str, items: u64) -> Result<(), Failure> {
    output::print(&match global.json {
        true => json::line(&json::ItemCountJson { name, items }),
        false => format!("{items}\n"),
    })
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
    each_page(queue, ItemState::Dead, matching, |letters| {
        is_empty &= letters.is_empty();
        letters.iter().for_each(|letter| table.row(row(letter)));
        Ok(())
    })
    .await?;
    if is_empty { Ok(()) } else { output::print(&table.render(room)) }
}

fn row(letter: &ListedItem) -> Vec<String> {
    let died_at = match letter.state {
        ListedState::Dead { died_at } => died_at,
        _ => letter.pushed_at,
    };
    let last = letter.history.ends().last();
    vec![
        letter.id.to_string(),
        letter.attempt.to_string(),
        ago(died_at),
        letter.group.as_deref().unwrap_or_default().to_owned(),
        last.map(|past| delivery_end(&past.ending).to_owned()).unwrap_or_default(),
        glimpse(letter),
    ]
}
