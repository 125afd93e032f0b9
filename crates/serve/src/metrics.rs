//! `/metrics`: the figures of the lists at the moment of the scrape. So no series outlives its name
//! or queue.

use std::{
    cmp::Reverse,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::future::join_all;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use seinpaal::{AdminError, QueueSnapshot, Snapshot};

use crate::{counting, shared::HandlerState, tally::NameLabel};

/// How many names, and how many queues, have series of their own. Those with the most waiters or
/// ready items come first, and then those with the most holders or items in work.
const MOST: usize = 500;

/// For how many names with waiters a scrape reads the holders. Each takes a reading of the store.
const MOST_CROWDED: usize = 50;

/// A figure of a queue.
type Figure = fn(&QueueSnapshot) -> u32;

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct QueueStateLabel {
    name: String,
    state: &'static str,
}

/// Answers with all series, as text.
pub(crate) async fn metrics(State(inner): State<Arc<HandlerState>>) -> Response {
    let mut registry = Registry::with_prefix("seinpaal");
    let names = inner.lists.names().await;
    let queues = inner.lists.queues().await;
    let is_up = usize::from(names.is_ok());
    gauge(&mut registry, "store_up", "Whether the store answered this scrape", is_up);
    if let Ok(names) = names {
        let rows = of_names(&mut registry, &names);
        of_crowded(&mut registry, &crowded(&inner, &rows).await);
        inner.history.scrape(rows.into_iter().take(MOST));
    }
    // A store that keeps no queues answers with an error, and then there are no series of queues.
    if let Ok(queues) = queues {
        let rows = of_queues(&mut registry, &queues);
        inner.history.scrape_queues(rows.into_iter().take(MOST));
    }
    counting::begin(&inner.source);
    of_this_program(&mut registry, &inner);
    let mut text = String::new();
    if encode(&mut text, &registry).is_err() {
        return (axum::http::StatusCode::INTERNAL_SERVER_ERROR, "cannot be written\n")
            .into_response();
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn of_this_program(registry: &mut Registry, inner: &HandlerState) {
    inner.tally.register(registry);
    let watched = "Names, queues and lists that somebody looks at";
    gauge(registry, "serve_watched", watched, inner.watches.len());
    let streams = "Pages that are kept up to date, and requests of programs that wait or hold";
    let in_use = inner.options.streams - inner.streams.available_permits();
    gauge(registry, "serve_streams", streams, in_use);
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: usize) {
    let gauge = Gauge::<i64>::default();
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    registry.register(name, help, gauge);
}

/// Calls `set` with each of the first rows under its name, and with all other rows together under
/// the empty name, which no row can have.
fn each<T>(rows: &[&T], name_of: fn(&T) -> String, mut set: impl FnMut(String, &[&T])) {
    let (own, others) = rows.split_at(rows.len().min(MOST));
    for row in own {
        set(name_of(row), &[row]);
    }
    if !others.is_empty() {
        set(String::new(), others);
    }
}

fn sum<T>(rows: &[&T], figure: fn(&T) -> u32) -> i64 {
    rows.iter().map(|row| i64::from(figure(row))).sum()
}

/// Registers a figure of each row, and the sum of the figure over the other rows.
fn sums<T>(
    registry: &mut Registry,
    (name, help): (&str, &str),
    rows: &[&T],
    name_of: fn(&T) -> String,
    figure: fn(&T) -> u32,
) {
    let family = Family::<NameLabel, Gauge>::default();
    each(rows, name_of, |name, rows| {
        family.get_or_create(&NameLabel { name }).set(sum(rows, figure));
    });
    registry.register(name, help, family);
}

/// Registers a length of time of each row, and the longest one of the other rows.
fn seconds<T>(
    registry: &mut Registry,
    (name, help): (&str, &str),
    rows: &[&T],
    name_of: fn(&T) -> String,
    length: fn(&T) -> Option<Duration>,
) {
    let family = Family::<NameLabel, Gauge<f64, AtomicU64>>::default();
    each(rows, name_of, |name, rows| {
        let longest = rows.iter().filter_map(|row| length(row)).max().unwrap_or_default();
        family.get_or_create(&NameLabel { name }).set(longest.as_secs_f64());
    });
    registry.register_with_unit(name, help, Unit::Seconds, family);
}

/// Registers the series of names, and returns the sorted names.
fn of_names<'a>(registry: &mut Registry, names: &'a [Snapshot]) -> Vec<&'a Snapshot> {
    gauge(registry, "names", "Names in use or configured", names.len());
    let mut rows: Vec<_> = names.iter().collect();
    rows.sort_by_key(|seen| Reverse((seen.waiting_total, seen.holders_total)));
    let name: fn(&Snapshot) -> String = |seen| seen.name.to_string();
    let mut figure_of = |about, figure: fn(&Snapshot) -> u32| {
        sums(registry, about, &rows, name, figure);
    };
    figure_of(("permits_held", "Permits that are held"), |seen| seen.permits_held);
    figure_of(("limit", "Permits that exist"), |seen| seen.limit);
    figure_of(("holders", "Tickets that hold"), |seen| seen.holders_total);
    figure_of(("waiters", "Tickets that wait"), |seen| seen.waiting_total);
    figure_of(("paused", "Whether the name admits nobody; of the others: how many"), |seen| {
        u32::from(seen.paused.is_some())
    });
    seconds(registry, ("oldest_wait", "How long the longest waits"), &rows, name, |seen| {
        seen.oldest_wait()
    });
    rows
}

/// Reads the names with the most waiters, with their holders, which a list leaves out.
async fn crowded(inner: &HandlerState, rows: &[&Snapshot]) -> Vec<Snapshot> {
    let waited_for = rows.iter().filter(|seen| seen.waiting_total > 0).take(MOST_CROWDED);
    let reads = waited_for.map(|seen| async {
        let mut seen = inner.seinpaal.semaphore(&seen.name).snapshot().await?;
        inner.history.learn(&mut seen);
        Ok::<_, AdminError>(seen)
    });
    join_all(reads).await.into_iter().flatten().collect()
}

fn of_crowded(registry: &mut Registry, names: &[Snapshot]) {
    let rows: Vec<_> = names.iter().collect();
    let name: fn(&Snapshot) -> String = |seen| seen.name.to_string();
    let about =
        ("holders_not_renewed", "Holders that may be dead or cut off, where somebody waits");
    sums(registry, about, &rows, name, |seen| {
        let late = seen.holders.iter().filter(|holder| holder.not_renewed_for().is_some());
        u32::try_from(late.count()).unwrap_or(u32::MAX)
    });
    // Holders are listed in the order of their grants, so the first one has held longest.
    let about = ("oldest_hold", "How long the longest has held, where somebody waits");
    seconds(registry, about, &rows, name, |seen| Some(seen.holders.first()?.held_for));
}

/// Registers the number of items of each queue in each state.
fn of_items(
    registry: &mut Registry,
    rows: &[&QueueSnapshot],
    name_of: fn(&QueueSnapshot) -> String,
) {
    let family = Family::<QueueStateLabel, Gauge>::default();
    let states: [(&str, Figure); 4] = [
        ("ready", |seen| seen.ready),
        ("delayed", |seen| seen.delayed),
        ("in_work", |seen| seen.in_work),
        ("dead", |seen| seen.dead),
    ];
    for (state, figure) in states {
        each(rows, name_of, |name, rows| {
            family.get_or_create(&QueueStateLabel { name, state }).set(sum(rows, figure));
        });
    }
    registry.register("queue_items", "Items of a queue", family);
}

/// Registers the series of queues, and returns the sorted queues.
fn of_queues<'a>(registry: &mut Registry, queues: &'a [QueueSnapshot]) -> Vec<&'a QueueSnapshot> {
    let mut rows: Vec<_> = queues.iter().collect();
    rows.sort_by_key(|seen| Reverse((seen.ready, seen.in_work)));
    let name: fn(&QueueSnapshot) -> String = |seen| seen.name.to_string();
    of_items(registry, &rows, name);
    sums(registry, ("queue_idle_workers", "Connections that want items"), &rows, name, |seen| {
        seen.idle
    });
    sums(
        registry,
        (
            "queue_unattended",
            "Whether items are ready and nobody works on them; of the others: how many",
        ),
        &rows,
        name,
        |seen| u32::from(seen.is_unattended()),
    );
    let about = ("queue_oldest", "How long ago the item was pushed that is next");
    seconds(registry, about, &rows, name, |seen| seen.oldest);
    rows
}
