//! Streams that keep pages up to date. A stream first sends all parts that the page does not have,
//! and then the parts that change.
//!
//! A stream keeps no frames. A browser that reads slowly gets the newest state each time it has
//! read the last one.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{Query as Fields, State},
    http::{HeaderMap, StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
};
use futures_util::stream::{self, Stream};
use serde::Serialize;
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::timeout,
};

use crate::{
    access::Visitor,
    page,
    shared::HandlerState,
    watch::{Frame, INTERVAL},
};

/// A stream sends at least one event in this time, so that a page can tell a silent server from a
/// state without changes.
const BEAT: Duration = Duration::from_secs(2);

struct Live {
    frames: watch::Receiver<Frame>,
    role: usize,
    /// The epoch and the version of the frame that the page has.
    has: (u64, u64),
    is_first: bool,
    _place: OwnedSemaphorePermit,
}

#[derive(Serialize)]
struct LiveMessage<'a> {
    parts: BTreeMap<&'static str, &'a str>,
    trouble: String,
}

/// Answers with the stream of a page. The fields say which page it is.
pub(crate) async fn live(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
    Fields(fields): Fields<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let Some(subject) = page::subject(&fields) else {
        return (StatusCode::BAD_REQUEST, "no such page\n").into_response();
    };
    // The stream is refused and not queued, so that the page can say at once that it gets no news.
    let Ok(place) = Arc::clone(&inner.streams).try_acquire_owned() else {
        return too_many(&format!(
            "all {} places for pages that are kept up to date are taken; this one asks again every 10 s",
            inner.options.streams
        ));
    };
    let Ok(frames) = inner.watches.look(&inner.source, subject) else {
        return too_many("too many different pages are open; this one asks again every 10 s");
    };
    let resumed = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let from = resumed.or_else(|| fields.get("from").map(String::as_str)).unwrap_or_default();
    let live = Live {
        frames,
        role: usize::from(visitor.may_act),
        has: version(from).unwrap_or_default(),
        is_first: true,
        _place: place,
    };
    // A proxy that buffers answers would hold every event back.
    let unbuffered = [("x-accel-buffering", "no"), ("cache-control", "no-store")];
    (unbuffered, Sse::new(events(live))).into_response()
}

/// Refuses a stream. The script of the page shows these words.
fn too_many(words: &str) -> Response {
    let later = [(header::RETRY_AFTER, "10")];
    (StatusCode::SERVICE_UNAVAILABLE, later, format!("Stale: {words}.\n")).into_response()
}

/// Reads the id of an event, `EPOCH-VERSION`.
fn version(id: &str) -> Option<(u64, u64)> {
    let (epoch, version) = id.split_once('-')?;
    Some((epoch.parse().ok()?, version.parse().ok()?))
}

fn events(live: Live) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(live, |mut live| async move {
        let event = live.next().await?;
        Some((Ok(event), live))
    })
}

impl Live {
    /// Returns the next event. `None`: the watch has ended, and the browser connects again.
    async fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_first) {
            // The first event is sent at once, so that proxies and browsers see that the stream is
            // open.
            return Some(Event::default().retry(INTERVAL).comment("seinpaal"));
        }
        match timeout(BEAT, self.frames.changed()).await {
            Ok(Err(_)) => None,
            Ok(Ok(())) => Some(self.changes()),
            Err(_) => Some(beat(&self.frames.borrow())),
        }
    }

    fn changes(&mut self) -> Event {
        let frame = self.frames.borrow_and_update();
        // Versions of another watch cannot be compared, so the page gets all parts anew.
        let known = if self.has.0 == frame.epoch { self.has.1 } else { 0 };
        let new = frame.parts[self.role].iter().filter(|part| part.since > known);
        let parts: BTreeMap<_, _> = new.map(|part| (part.id, part.html.as_str())).collect();
        if parts.is_empty() {
            return beat(&frame);
        }
        self.has = (frame.epoch, frame.version);
        let id = format!("{}-{}", frame.epoch, frame.version);
        let message = LiveMessage { parts, trouble: page::trouble(&frame) };
        Event::default().event("parts").id(id).data(json(&message))
    }
}

fn beat(frame: &Frame) -> Event {
    let message = LiveMessage { parts: BTreeMap::new(), trouble: page::trouble(frame) };
    Event::default().event("beat").data(json(&message))
}

fn json(message: &LiveMessage<'_>) -> String {
    // Writing JSON fails only for maps whose keys are not text, and there are none here.
    serde_json::to_string(message).unwrap_or_default()
}
