//! Permits for clients that renew and release them themselves, by ticket.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use seinpaal::{Acquire, Name, OnMismatch, Permit, TryAcquire};
use seinpaal_words::json::{Acquired, Renewed, slots};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    address::{Keyed, OfName, OfTicket},
    body::{Body, FromPath, User, duration, ticket},
    names::{place, semaphore},
};
use crate::{json_text::JsonText, problem::Problem, shared::HandlerState};

/// The bounds of the wait of one request.
pub(super) const WAITS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(3600);
/// The bounds of the delay of an item.
pub(super) const DELAYS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(86_400);
/// The bounds of the length of a lease.
pub(super) const TTLS: RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(86_400);
pub(super) const TTL: Duration = Duration::from_secs(30);

/// The permits to take, and the way to take them.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AcquireBody {
    /// The kind of the name, which must be the same for all callers of the name. Default: a
    /// semaphore.
    kind: LockKind,
    /// The limit of a semaphore: how many permits there are. Default: the stored limit, or 1.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    limit: Option<u32>,
    /// The reaction if another limit than `limit` is stored. Default: refuse.
    on_mismatch: Mismatch,
    /// How many permits of a semaphore to take. They are granted together. Default: 1.
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    permits: Option<u32>,
    /// The priority. A higher one is served sooner. Default: 0.
    #[schema(minimum = -100, maximum = 100)]
    priority: i32,
    /// How long the lease lasts without a renewal, in milliseconds: 100 to a day. Default: 30 000.
    #[schema(minimum = 100, maximum = 86_400_000)]
    ttl_ms: Option<u64>,
    /// How long to wait in line, in milliseconds; at most an hour. The answer comes with the grant,
    /// or after this time. Default: 0.
    #[schema(maximum = 3_600_000)]
    wait_ms: u64,
    /// The request does not wait if this many requests already wait. Default: it waits behind any
    /// number.
    max_waiting: Option<u32>,
    /// Labels of the holder that everybody can read. Default: none.
    labels: BTreeMap<String, String>,
    /// The names of the slots to take, at most as many as `permits`. Default: any slots.
    #[schema(max_items = 1000)]
    slot_names: Vec<SlotName>,
}

/// The name of a slot.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(
    min_length = 1,
    max_length = 64,
    pattern = r"^[^\s,\x00-\x1f\x7f-\x9f]([^,\x00-\x1f\x7f-\x9f]*[^\s,\x00-\x1f\x7f-\x9f])?$"
)]
pub(super) struct SlotName(
    /// A text of 1 to 64 bytes without commas, control characters, or spaces at its ends.
    String,
);

impl From<SlotName> for String {
    fn from(name: SlotName) -> Self {
        name.0
    }
}

/// The kind of a name. For a readers-writer lock it is the side.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum LockKind {
    #[default]
    Semaphore,
    Mutex,
    /// A reader of a readers-writer lock.
    Read,
    /// A writer of a readers-writer lock.
    Write,
}

/// The reaction if another limit is stored: refuse, adopt that limit, or store this one.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Mismatch {
    #[default]
    Refuse,
    /// Adopt the stored limit.
    Adopt,
    /// Store this limit.
    Set,
}

/// The side that renews the lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Renewer {
    /// This program, for as long as a connection is open.
    Connection,
    /// The client that has the ticket.
    Caller,
}

/// Takes permits, and waits for them in line if none are free. Only you renew the lease: call
/// `renew` before `valid_for_ms` have passed, or use `hold`. If you hang up while you wait, you
/// leave the line.
///
/// With an `Idempotency-Key`, a repeated request gets the same answer for ten minutes, even if the
/// client left while it got the permits. A restart of the program forgets the keys.
#[utoipa::path(
    post, path = "/names/{name}/acquire", operation_id = "acquire", tag = "permits",
    params(OfName, Keyed),
    request_body = AcquireBody,
    responses((status = 200, body = Acquired<'_>), Problem)
)]
pub(super) async fn acquire(
    State(inner): State<Arc<HandlerState>>,
    User(visitor): User,
    FromPath(OfName { name }): FromPath<OfName>,
    headers: HeaderMap,
    Body(wanted): Body<AcquireBody>,
) -> Result<Response, Problem> {
    let _place = place(&inner)?;
    let (what, of) = (format!("acquire {name}"), name.clone());
    let waiting = wanted.get(&inner, &name, Renewer::Caller);
    let handed = |permit| hand_over(of, permit);
    let taken = inner.answers.once(visitor.token, &headers, what, &wanted, waiting, handed).await?;
    Ok(taken.into_response())
}

/// Gives a permit to the client, which renews it from now on.
async fn hand_over(name: String, permit: Permit) -> Result<JsonText, Problem> {
    let slot_names = names_of(&permit);
    // If this fails, the permits were lost, or they are given back as soon as the store answers. So
    // the client may ask again, with the same key, too.
    let detached = permit.detach().await.map_err(Problem::unavailable)?;
    JsonText::of(&Acquired {
        name: &name,
        ticket: detached.ticket.to_string(),
        fence: detached.fence.0,
        slots: slots(&detached.slots),
        slot_names,
        permits: detached.slots.count(),
        limit: detached.limit,
        valid_for_ms: detached.valid_for.map(|left| left.as_millis()),
    })
}

/// Returns the names of a permit's slots.
pub(super) fn names_of(permit: &Permit) -> Vec<String> {
    permit.slot_names().into_iter().map(str::to_owned).collect()
}

impl AcquireBody {
    /// Acquires the permit, or returns the reason why there is none.
    pub(super) async fn get(
        &self,
        inner: &HandlerState,
        name: &str,
        renewer: Renewer,
    ) -> Result<Permit, Problem> {
        Name::new(name).map_err(Problem::bad)?;
        let wait = duration("wait_ms", self.wait_ms, WAITS)?;
        let ttl = self.ttl_ms.map_or(Ok(TTL), |ttl_ms| duration("ttl_ms", ttl_ms, TTLS))?;
        // With no time to wait, the request never stands in line.
        if wait.is_zero() {
            let mut request = self.tried(inner, name)?.ttl(ttl);
            // A client renews its lease when it likes. Without this call, pages would show such a
            // client as a holder that may be dead.
            if renewer == Renewer::Caller {
                request = request.to_detach();
            }
            let tried = request.await?;
            return tried.ok_or_else(|| Problem::from(seinpaal::AcquireError::Busy));
        }
        let mut waited = self.waited(inner, name)?.ttl(ttl).timeout(wait);
        if renewer == Renewer::Caller {
            waited = waited.to_detach();
        }
        Ok(self.max_waiting.into_iter().fold(waited, Acquire::max_waiting).await?)
    }

    fn tried(&self, inner: &HandlerState, name: &str) -> Result<TryAcquire, Problem> {
        let seinpaal = &inner.seinpaal;
        let request = match self.of()? {
            LockKind::Semaphore => self.semaphore(inner, name).try_acquire(),
            LockKind::Mutex => seinpaal.mutex(name).try_lock(),
            LockKind::Read => seinpaal.rwlock(name).try_read(),
            LockKind::Write => seinpaal.rwlock(name).try_write(),
        };
        let request = self.permits.into_iter().fold(request, |request, n| request.permits(n));
        let request = self.slot_names.iter().fold(request, |request, name| request.slot(&name.0));
        let labels = self.labels.iter();
        Ok(labels.fold(request.priority(self.priority), |request, (key, value)| {
            request.label(key, value)
        }))
    }

    fn waited(&self, inner: &HandlerState, name: &str) -> Result<Acquire, Problem> {
        let seinpaal = &inner.seinpaal;
        let request = match self.of()? {
            LockKind::Semaphore => self.semaphore(inner, name).acquire(),
            LockKind::Mutex => seinpaal.mutex(name).lock(),
            LockKind::Read => seinpaal.rwlock(name).read(),
            LockKind::Write => seinpaal.rwlock(name).write(),
        };
        let request = self.permits.into_iter().fold(request, |request, n| request.permits(n));
        let request = self.slot_names.iter().fold(request, |request, name| request.slot(&name.0));
        let labels = self.labels.iter();
        Ok(labels.fold(request.priority(self.priority), |request, (key, value)| {
            request.label(key, value)
        }))
    }

    /// Returns the kind, if the other fields can be used with it.
    fn of(&self) -> Result<LockKind, Problem> {
        let is_plain = self.limit.is_none() && self.permits.is_none() && self.slot_names.is_empty();
        match self.kind {
            LockKind::Semaphore => Ok(LockKind::Semaphore),
            kind if is_plain => Ok(kind),
            _ => Err(Problem::bad("only a semaphore has a limit, and permits and slots to choose")),
        }
    }

    fn semaphore(&self, inner: &HandlerState, name: &str) -> seinpaal::Semaphore {
        let semaphore = inner.seinpaal.semaphore(name);
        let Some(limit) = self.limit else { return semaphore };
        semaphore.limit(limit).on_mismatch(match self.on_mismatch {
            Mismatch::Refuse => OnMismatch::Refuse,
            Mismatch::Adopt => OnMismatch::Adopt,
            Mismatch::Set => OnMismatch::Set,
        })
    }
}

/// The new length of a lease.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RenewBody {
    /// How long the lease lasts from now, in milliseconds: 100 to a day. Without it the lease lasts
    /// for the ttl of the acquire, and never ends sooner than it would have without this request.
    #[schema(minimum = 100, maximum = 86_400_000)]
    pub(super) ttl_ms: Option<u64>,
}

impl RenewBody {
    pub(super) fn ttl(&self) -> Result<Option<Duration>, Problem> {
        self.ttl_ms.map(|ttl_ms| duration("ttl_ms", ttl_ms, TTLS)).transpose()
    }
}

/// Renews the lease of a ticket.
#[utoipa::path(
    post, path = "/names/{name}/tickets/{ticket}/renew", operation_id = "renew", tag = "permits",
    params(OfTicket),
    request_body = RenewBody,
    responses((status = 200, body = Renewed<'_>), Problem)
)]
pub(super) async fn renew(
    State(inner): State<Arc<HandlerState>>,
    _: User,
    FromPath(OfTicket { name, ticket: of }): FromPath<OfTicket>,
    Body(lease): Body<RenewBody>,
) -> Result<Response, Problem> {
    let of = ticket(&of)?;
    let left = semaphore(&inner, &name)?.renew_ticket(of, lease.ttl()?).await?;
    let valid_for_ms = left.map(|left| left.as_millis());
    Ok(Json(Renewed { name: &name, ticket: of.to_string(), valid_for_ms }).into_response())
}

/// Gives back the permits of a ticket. If they were given back already, this is no error.
#[utoipa::path(
    delete, path = "/names/{name}/tickets/{ticket}", operation_id = "release", tag = "permits",
    params(OfTicket),
    responses((status = 204, description = "It is given back."), Problem)
)]
pub(super) async fn release(
    State(inner): State<Arc<HandlerState>>,
    _: User,
    FromPath(OfTicket { name, ticket: of }): FromPath<OfTicket>,
) -> Result<StatusCode, Problem> {
    semaphore(&inner, &name)?.release_ticket(ticket(&of)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
