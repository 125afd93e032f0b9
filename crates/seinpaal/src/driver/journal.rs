//! The log events and their forms. The crate's documentation has the table. No payload is ever
//! logged.

use seinpaal_proto::{
    Name, Ticket,
    queue::{
        Batch as QueueBatch, How, Request as QueueRequest,
        session::{Delivered, Event as QueueEvent},
    },
    session::Event,
};

use crate::store::StoreError;

/// Logs a call that has failed. An outage fails each try of each call, and is logged once, with its
/// end (`pulse.rs`).
pub(super) fn note_failure(error: &StoreError) {
    if error.is_passing() {
        tracing::debug!(target: "seinpaal", kind = ?error.kind(), %error, "the store did not answer");
    } else {
        tracing::warn!(target: "seinpaal", kind = ?error.kind(), %error, "the store refused");
    }
}

/// Logs an event of a ticket. The ticket's name is looked up only if the log is read.
pub(super) fn note<'a>(name: impl Fn() -> &'a str, event: &Event) {
    match event {
        Event::Queued { ticket, waiting } => {
            tracing::debug!(target: "seinpaal", name = name(), %ticket, waiting, "queued");
        }
        Event::Waits { ticket, position } => {
            tracing::trace!(target: "seinpaal", name = name(), %ticket, position, "waits");
        }
        Event::Renumbered { from, to } => {
            tracing::debug!(target: "seinpaal", name = name(), ticket = %from, %to, "renumbered");
        }
        Event::Acquired { ticket, fence, slots, limit, .. } => {
            tracing::debug!(target: "seinpaal", name = name(), %ticket, %fence, %slots, limit, "acquired");
        }
        Event::Renewed { ticket, .. } => {
            tracing::trace!(target: "seinpaal", name = name(), %ticket, "renewed");
        }
        Event::Danger { ticket } => {
            tracing::warn!(target: "seinpaal", name = name(), %ticket, "danger");
        }
        Event::Lost { ticket, loss } => {
            tracing::warn!(target: "seinpaal", name = name(), %ticket, ?loss, "lost");
        }
        Event::Refused { ticket, refusal } => {
            tracing::debug!(target: "seinpaal", name = name(), %ticket, ?refusal, "refused");
        }
        Event::Released { ticket, was_held, left, .. } => {
            tracing::debug!(target: "seinpaal", name = name(), %ticket, was_held, left, "released");
        }
        Event::Unanswered { ticket, .. } => {
            tracing::warn!(target: "seinpaal", name = name(), %ticket, "not known to be released");
        }
        Event::Detached { ticket, .. } => {
            tracing::debug!(target: "seinpaal", name = name(), %ticket, "detached");
        }
        Event::Answer { reply, .. } => {
            tracing::trace!(target: "seinpaal", is_answered = reply.is_some(), "asked");
        }
    }
}

/// Logs an event of a queue.
pub(super) fn note_queue(queue: &Name, event: &QueueEvent) {
    let queue = queue.as_str();
    match event {
        QueueEvent::Delivered { items, .. } => {
            for Delivered { item, .. } in items {
                let (id, fence, bytes) =
                    (item.delivery.id, item.delivery.fence, item.payload.len());
                tracing::debug!(target: "seinpaal", queue, item = %id, %fence, bytes, "delivered");
            }
        }
        QueueEvent::Drained { .. } => tracing::debug!(target: "seinpaal", queue, "drained"),
        QueueEvent::TimedOut { .. } => tracing::debug!(target: "seinpaal", queue, "timed out"),
        QueueEvent::Failed { .. } => tracing::warn!(target: "seinpaal", queue, "failed"),
        QueueEvent::Renewed { delivery, .. } => {
            tracing::trace!(target: "seinpaal", queue, item = %delivery.id, "renewed");
        }
        QueueEvent::Danger { delivery } => {
            tracing::warn!(target: "seinpaal", queue, item = %delivery.id, "danger");
        }
        QueueEvent::Lost { delivery, loss } => {
            let (id, fence) = (delivery.id, delivery.fence);
            tracing::warn!(target: "seinpaal", queue, item = %id, %fence, ?loss, "lost");
        }
        QueueEvent::Finished { delivery, end } => {
            let (id, fence) = (delivery.id, delivery.fence);
            tracing::debug!(target: "seinpaal", queue, item = %id, %fence, ?end, "finished");
        }
        QueueEvent::Answer { .. } => tracing::trace!(target: "seinpaal", queue, "asked"),
    }
}

/// Logs the deliveries that a batch gives back, before it is sent. No event reports a delivery that
/// the program never saw, such as that of a pop that was given up.
pub(super) fn note_queue_batch(queue: &Name, batch: &QueueBatch) {
    let queue = queue.as_str();
    for request in &batch.requests {
        if let QueueRequest::Finish { delivery, how: How::GiveBack { .. } } = request {
            let (id, fence) = (delivery.id, delivery.fence);
            tracing::debug!(target: "seinpaal", queue, item = %id, %fence, "giving back");
        }
    }
}

/// The ticket that an event is about.
pub(super) fn ticket_of(event: &Event) -> Option<Ticket> {
    match event {
        Event::Queued { ticket, .. }
        | Event::Waits { ticket, .. }
        | Event::Renumbered { from: ticket, .. }
        | Event::Acquired { ticket, .. }
        | Event::Renewed { ticket, .. }
        | Event::Danger { ticket }
        | Event::Lost { ticket, .. }
        | Event::Refused { ticket, .. }
        | Event::Released { ticket, .. }
        | Event::Unanswered { ticket, .. }
        | Event::Detached { ticket, .. } => Some(*ticket),
        Event::Answer { .. } => None,
    }
}
