//! The page of all queues: one page of a table.

use std::{cmp::Reverse, sync::Arc, time::Duration};

use askama::Template;
use seinpaal::QueueSnapshot;

use super::{
    Headline, ListQuery, Pieces, encoded,
    gate::GatePicture,
    grouped,
    headline::queue_needs_attention,
    html,
    query::{Paging, page_of},
};
use crate::source::StoreSource;

#[derive(Template)]
#[template(path = "parts/queues.html")]
struct QueuesPart<'a> {
    rows: Vec<QueueCells>,
    paging: Paging,
    search: String,
    base: &'a str,
}

struct QueueCells {
    name: String,
    link: String,
    ready: String,
    delayed: String,
    in_work: String,
    dead: String,
    idle: String,
    gate: GatePicture,
    headline: Headline,
}

/// Reads all queues, and renders the page.
pub(super) async fn queues(inner: &Arc<StoreSource>, query: &ListQuery) -> Result<Pieces, String> {
    let all = inner.lists.queues().await.map_err(|error| error.to_string())?;
    let searched = query.search.to_lowercase();
    let mut found: Vec<_> =
        all.iter().filter(|seen| seen.name.to_lowercase().contains(&searched)).collect();
    found.sort_by_key(|seen| Reverse((queue_needs_attention(seen), urgency(seen))));
    let table = QueuesPart {
        rows: page_of(&found, query).iter().map(|seen| QueueCells::new(seen)).collect(),
        paging: Paging::new(query, found.len()),
        search: query.search.clone(),
        base: &inner.options.base_path,
    };
    let parts = vec![("table", html(&table))];
    Ok([parts.clone(), parts])
}

fn urgency(seen: &QueueSnapshot) -> (Option<Duration>, u32) {
    (seen.oldest.filter(|_| seen.ready > 0), seen.in_work)
}

impl QueueCells {
    fn new(seen: &QueueSnapshot) -> Self {
        let limit = seen.limit.unwrap_or_else(|| seen.in_work.max(1));
        Self {
            name: seen.name.to_string(),
            link: encoded(&seen.name),
            ready: grouped(seen.ready),
            delayed: grouped(seen.delayed),
            in_work: grouped(seen.in_work),
            dead: grouped(seen.dead),
            idle: grouped(seen.idle),
            gate: GatePicture::new(seen.in_work, limit, seen.ready, seen.paused.is_some()),
            headline: Headline::of_queue(seen),
        }
    }
}
