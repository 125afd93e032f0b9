//! `/metrics`: what the lists say at the moment of the scrape, so that nothing stays that is gone.

use std::{cmp::Reverse, sync::Arc};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use seinpaal::{QueueSnapshot, Snapshot};

use crate::dashboard::Inner;

/// How many names, and queues, have series of their own: those with the most waiters, then the most holders.
const MOST: usize = 500;

/// How many of something a queue has.
type Figure = fn(&QueueSnapshot) -> u32;

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Of {
    name: String,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct OfState {
    name: String,
    state: &'static str,
}

/// All series, as text.
pub(crate) async fn metrics(State(inner): State<Arc<Inner>>) -> Response {
    let mut registry = Registry::with_prefix("seinpaal");
    let names = inner.lists.names().await;
    let queues = inner.lists.queues().await;
    let is_up = i64::from(names.is_ok());
    gauge(&mut registry, "store_up", "Whether the store answered this scrape", is_up);
    if let Ok(names) = names {
        of_names(&mut registry, &names);
    }
    // A store that keeps no queues says so by an error, and has no series of them.
    if let Ok(queues) = queues {
        of_queues(&mut registry, &queues);
    }
    let watched = i64::try_from(inner.watches.len()).unwrap_or(i64::MAX);
    gauge(
        &mut registry,
        "serve_watched",
        "Names, queues and lists that somebody looks at",
        watched,
    );
    let mut text = String::new();
    if encode(&mut text, &registry).is_err() {
        return (axum::http::StatusCode::INTERNAL_SERVER_ERROR, "cannot be written\n")
            .into_response();
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: i64) {
    let gauge = Gauge::<i64>::default();
    gauge.set(value);
    registry.register(name, help, gauge);
}

/// A figure of each of the first names, and the sum of all others under the empty name, which nobody can have.
fn sums<T>(
    registry: &mut Registry,
    (name, help): (&str, &str),
    rows: &[&T],
    name_of: fn(&T) -> String,
    figure: fn(&T) -> u32,
) {
    let family = Family::<Of, Gauge>::default();
    let (own, others) = rows.split_at(rows.len().min(MOST));
    for row in own {
        family.get_or_create(&Of { name: name_of(row) }).set(i64::from(figure(row)));
    }
    if !others.is_empty() {
        let sum = others.iter().map(|row| i64::from(figure(row))).sum();
        family.get_or_create(&Of { name: String::new() }).set(sum);
    }
    registry.register(name, help, family);
}

fn of_names(registry: &mut Registry, names: &[Snapshot]) {
    gauge(registry, "names", "Names in use or configured", i64::try_from(names.len()).unwrap_or(0));
    let mut rows: Vec<_> = names.iter().collect();
    rows.sort_by_key(|seen| Reverse((seen.waiting_total, seen.holders_total)));
    let name: fn(&Snapshot) -> String = |seen| seen.name.to_string();
    let mut each = |about, figure: fn(&Snapshot) -> u32| sums(registry, about, &rows, name, figure);
    each(("permits_held", "Permits that are held"), |seen| seen.permits_held);
    each(("limit", "Permits that exist"), |seen| seen.limit);
    each(("holders", "Tickets that hold"), |seen| seen.holders_total);
    each(("waiters", "Tickets that wait"), |seen| seen.waiting_total);
    each(("paused", "Whether nobody is let in; of the others: how many"), |seen| {
        u32::from(seen.paused.is_some())
    });
    let oldest: Vec<_> =
        rows.iter().map(|seen| (seen.name.to_string(), seen.oldest_wait())).collect();
    seconds(registry, ("oldest_wait", "How long the longest waits"), &oldest);
}

/// The empty name has the longest of the others.
fn seconds(
    registry: &mut Registry,
    (name, help): (&str, &str),
    rows: &[(String, Option<std::time::Duration>)],
) {
    let family = Family::<Of, Gauge<f64, std::sync::atomic::AtomicU64>>::default();
    let (own, others) = rows.split_at(rows.len().min(MOST));
    for (name, oldest) in own {
        let length = oldest.unwrap_or_default().as_secs_f64();
        family.get_or_create(&Of { name: name.clone() }).set(length);
    }
    if !others.is_empty() {
        let longest = others.iter().filter_map(|(_, oldest)| *oldest).max().unwrap_or_default();
        family.get_or_create(&Of { name: String::new() }).set(longest.as_secs_f64());
    }
    registry.register_with_unit(name, help, Unit::Seconds, family);
}

fn of_queues(registry: &mut Registry, queues: &[QueueSnapshot]) {
    let mut rows: Vec<_> = queues.iter().collect();
    rows.sort_by_key(|seen| Reverse((seen.ready, seen.in_work)));
    let family = Family::<OfState, Gauge>::default();
    let states: [(&str, Figure); 4] = [
        ("ready", |seen| seen.ready),
        ("delayed", |seen| seen.delayed),
        ("in_work", |seen| seen.in_work),
        ("dead", |seen| seen.dead),
    ];
    let (own, others) = rows.split_at(rows.len().min(MOST));
    for (state, figure) in states {
        for row in own {
            let of = OfState { name: row.name.to_string(), state };
            family.get_or_create(&of).set(i64::from(figure(row)));
        }
        if !others.is_empty() {
            let sum = others.iter().map(|row| i64::from(figure(row))).sum();
            family.get_or_create(&OfState { name: String::new(), state }).set(sum);
        }
    }
    registry.register("queue_items", "Items of a queue", family);
    let name: fn(&QueueSnapshot) -> String = |seen| seen.name.to_string();
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
    let oldest: Vec<_> = rows.iter().map(|seen| (seen.name.to_string(), seen.oldest)).collect();
    seconds(registry, ("queue_oldest", "How long ago the item was pushed that is next"), &oldest);
}
