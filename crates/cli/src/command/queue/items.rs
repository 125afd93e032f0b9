//! `queue items`: lists the items of a queue by their state.

use std::time::SystemTime;

use seinpaal::{ItemCursor, ItemState, ListedItem, ListedState, Queue};
use seinpaal_words::matching::Matching;

use crate::{
    args::{Global, queue::QueueItemsArgs},
    connection::ask,
    exit::{Exit, Failure},
    output::{
        self, Voice, json,
        table::{Column, Table, TableRoom},
        text::age,
    },
};

/// How many items one call looks at: few enough that other clients do not wait long for the server.
const PAGE: u32 = 250;
/// How many characters of a payload a table shows.
const MOST_SHOWN: usize = 40;

/// Lists the items of one state, or all items.
pub(super) fn items(global: &Global, args: &QueueItemsArgs, voice: Voice) -> Result<Exit, Failure> {
    let matching = all_that_match(args.matching.as_deref());
    let states = args.state.as_ref().map_or(&ItemState::ALL[..], std::slice::from_ref);
    ask(global, voice, "seinpaal queue items", &args.name, async |seinpaal| {
        let queue = seinpaal.queue(&args.name);
        if global.json {
            for state in states {
                each_page(&queue, *state, &matching, print_lines).await?;
            }
            return Ok(Exit::Success);
        }
        print_table(&queue, states, &matching, TableRoom::of_stdout(args.width.wide)).await
    })
}

/// Returns the selection of items by this text.
pub(super) fn all_that_match(text: Option<&str>) -> Matching {
    Matching { text: text.unwrap_or_default().to_owned(), with_payloads: true, counted: None }
}

/// Acts on each page of matching items as it is read. So a page may be printed before the next one
/// is read.
pub(super) async fn each_page(
    queue: &Queue,
    state: ItemState,
    matching: &Matching,
    mut act: impl FnMut(&[ListedItem]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut after: Option<ItemCursor> = None;
    loop {
        let mut page = queue.items(state, after.as_ref(), PAGE).await?;
        page.items.retain(|item| matching.has(item));
        act(&page.items)?;
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

pub(super) fn print_lines(items: &[ListedItem]) -> Result<(), Failure> {
    let lines = items.iter().map(|item| json::line(&json::queue::ItemJson::new(item)));
    output::print(&lines.collect::<String>())
}

async fn print_table(
    queue: &Queue,
    states: &[ItemState],
    matching: &Matching,
    room: TableRoom,
) -> Result<Exit, Failure> {
    let mut table = Table::new(&[
        Column::left("ITEM"),
        // If all items have one state, this column says nothing new, so it is left out first.
        Column::left("STATE").rank(if states.len() > 1 { 0 } else { 7 }),
        Column::right("WHEN"),
        Column::right("DELIVERIES").rank(3),
        Column::right("PRIORITY").rank(6),
        Column::left("GROUP").rank(2).cut(8),
        Column::left("LABELS").rank(4).cut(8),
        Column::left("PAYLOAD").rank(1).cut(10),
    ]);
    let mut is_empty = true;
    for state in states {
        each_page(queue, *state, matching, |items| {
            is_empty &= items.is_empty();
            items.iter().for_each(|item| table.row(row(item)));
            Ok(())
        })
        .await?;
    }
    if !is_empty {
        output::print(&table.render(room))?;
    }
    Ok(Exit::Success)
}

fn row(item: &ListedItem) -> Vec<String> {
    let labels = item.pushed_by.labels.iter().map(|(key, value)| format!("{key}={value}"));
    vec![
        item.id.to_string(),
        item.state.state().to_string(),
        when(item),
        format!("{} of {}", item.attempt, item.deliveries),
        item.priority.to_string(),
        item.group.as_deref().unwrap_or_default().to_owned(),
        labels.collect::<Vec<_>>().join(" "),
        glimpse(item),
    ]
}

/// Says when the item was pushed, is due or died, or how long a worker has had it.
fn when(item: &ListedItem) -> String {
    match &item.state {
        ListedState::Delayed { due_at } => {
            let left = due_at.duration_since(SystemTime::now()).unwrap_or_default();
            format!("in {}", age(left))
        }
        ListedState::InWork { worked_for, .. } => format!("for {}", age(*worked_for)),
        ListedState::Dead { died_at } => ago(*died_at),
        _ => ago(item.pushed_at),
    }
}

pub(super) fn ago(at: SystemTime) -> String {
    format!("{} ago", age(SystemTime::now().duration_since(at).unwrap_or_default()))
}

pub(crate) fn glimpse(item: &ListedItem) -> String {
    let text = String::from_utf8_lossy(&item.payload);
    let start = text.chars().take(MOST_SHOWN).collect::<String>();
    // Bytes that are no text become longer when they are shown, so the lengths are compared before
    // that.
    let is_all = item.payload.len() == item.bytes as usize && start.len() == text.len();
    if is_all { start } else { format!("{start}…") }
}
