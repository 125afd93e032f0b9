//! Permits that are held for as long as a connection is open.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body as Stream, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::stream;
use seinpaal::{Permit, PermitState};
use seinpaal_words::json::slots;
use serde_json::{Value, json};
use tokio::{sync::OwnedSemaphorePermit, time::timeout};

use super::{
    address::OfName,
    body::{Body, FromPath, User},
    names::place,
    permits::{AcquireBody, Renewer, names_of},
};
use crate::{problem::Problem, shared::HandlerState};

/// A line is sent at least this often. Sending shows whether the client is still there.
const BEAT: Duration = Duration::from_secs(5);

/// Takes permits and holds them for as long as the client reads this answer: `curl -N` holds while
/// it runs. The program renews the lease, and gives the permits back when the connection ends for
/// any reason.
///
/// The answer begins when the permits are granted. It is a line of JSON for each event: `acquired`
/// first, `beat` every 5 s, `danger` if a renewal is late, and `lost` if the permits are lost,
/// which ends the answer.
#[utoipa::path(
    post, path = "/names/{name}/hold", operation_id = "hold", tag = "permits",
    params(OfName),
    request_body = AcquireBody,
    responses((status = 200, body = String, content_type = "application/x-ndjson"), Problem)
)]
pub(super) async fn hold(
    State(inner): State<Arc<HandlerState>>,
    _: User,
    FromPath(OfName { name }): FromPath<OfName>,
    Body(wanted): Body<AcquireBody>,
) -> Result<Response, Problem> {
    let place = place(&inner)?;
    let permit = wanted.get(&inner, &name, Renewer::Connection).await?;
    let held = HoldStream { permit, next: NextLine::Acquired, was_in_danger: false, _place: place };
    let lines = stream::unfold(held, |mut held| async move {
        let line = held.line().await?;
        Some((Ok::<_, Infallible>(Bytes::from(format!("{line}\n"))), held))
    });
    let head = [(header::CONTENT_TYPE, "application/x-ndjson")];
    // A proxy that buffers answers would hold the lines back.
    let unbuffered = [("x-accel-buffering", "no")];
    Ok((head, unbuffered, Stream::from_stream(lines)).into_response())
}

struct HoldStream {
    permit: Permit,
    next: NextLine,
    was_in_danger: bool,
    _place: OwnedSemaphorePermit,
}

enum NextLine {
    Acquired,
    Changes,
    Nothing,
}

impl HoldStream {
    async fn line(&mut self) -> Option<Value> {
        match self.next {
            NextLine::Nothing => return None,
            NextLine::Acquired => {
                self.next = NextLine::Changes;
                return Some(self.acquired());
            }
            NextLine::Changes => {}
        }
        // The state of the permit may have changed before this wait began, so it is looked at in
        // any case.
        let _ = timeout(BEAT, self.permit.changed()).await;
        Some(self.change())
    }

    fn acquired(&self) -> Value {
        let permit = &self.permit;
        let mut acquired = json!({
            "event": "acquired", "name": permit.name(), "ticket": permit.ticket().to_string(),
            "fence": permit.fence().0, "slots": slots(&permit.slots()), "permits": permit.permits(),
            "limit": permit.limit(),
        });
        let names = names_of(permit);
        if !names.is_empty() {
            acquired["slot_names"] = names.into();
        }
        acquired
    }

    fn change(&mut self) -> Value {
        match self.permit.state() {
            PermitState::Lost(why) => {
                self.next = NextLine::Nothing;
                json!({ "event": "lost", "detail": why.to_string() })
            }
            PermitState::Danger if !std::mem::replace(&mut self.was_in_danger, true) => {
                json!({ "event": "danger", "valid_for_ms": self.remaining() })
            }
            state => {
                self.was_in_danger = matches!(state, PermitState::Danger);
                json!({ "event": "beat", "valid_for_ms": self.remaining() })
            }
        }
    }

    fn remaining(&self) -> Option<u128> {
        self.permit.remaining().map(|left| left.as_millis())
    }
}
