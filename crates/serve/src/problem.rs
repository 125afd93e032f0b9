//! Errors in the form of RFC 9457: a type for programs, and a title and a sentence for people.

use std::collections::BTreeMap;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use seinpaal::{
    AcquireError, AdminError, FinishError, PopError, PushError, QueueError,
    store::{StoreError, StoreErrorKind},
};
use serde::Serialize;
use utoipa::{
    IntoResponses, ToSchema,
    openapi::{Ref, RefOr, Response as Described, ResponseBuilder, content::ContentBuilder},
};

/// The value of `Retry-After`, in seconds, for a problem that may pass.
const LATER: &str = "1";

/// The reason why a request failed, or why its outcome is unknown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The kind of the problem: `urn:seinpaal:` and a word that programs may go by.
    #[serde(rename = "type")]
    kind: String,
    /// The kind again, in words for people.
    title: &'static str,
    /// The HTTP status of the answer.
    status: u16,
    /// A sentence for people: the event, the thing concerned, and the remedy.
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, title: &'static str, detail: impl ToString) -> Self {
        let kind = format!("urn:seinpaal:{}", title.replace(' ', "-"));
        Self { kind, title, status: status.as_u16(), detail: detail.to_string() }
    }

    pub(crate) fn bad(detail: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad request", detail)
    }

    pub(crate) fn not_found(detail: impl ToString) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not found", detail)
    }

    pub(crate) fn not_in_use() -> Self {
        let words = "nothing can be taken from here: the program was started without --api, or this token may only read";
        Self::new(StatusCode::FORBIDDEN, "forbidden", words)
    }

    pub(crate) fn not_an_operator() -> Self {
        let words = "nothing can be changed from here: the program was started without --allow-actions, or this token does not operate";
        Self::new(StatusCode::FORBIDDEN, "forbidden", words)
    }

    pub(crate) fn unavailable(detail: impl ToString) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }

    /// Makes a problem after which nobody knows whether the request was carried out.
    pub(crate) fn unknown(detail: impl ToString) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "unknown", detail)
    }

    fn busy(title: &'static str, detail: impl ToString) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, title, detail)
    }

    pub(crate) fn conflict(title: &'static str, detail: impl ToString) -> Self {
        Self::new(StatusCode::CONFLICT, title, detail)
    }

    /// Returns whether nobody knows if the request was carried out.
    pub(crate) fn is_unknown(&self) -> bool {
        self.status == StatusCode::GATEWAY_TIMEOUT.as_u16()
    }

    /// Returns whether the only remedy is to ask again.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.status, 429 | 503 | 504)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let is_passing = self.is_passing();
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        let problem = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, problem);
        if is_passing {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(LATER));
        }
        response
    }
}

impl From<AcquireError> for Problem {
    fn from(error: AcquireError) -> Self {
        match error {
            AcquireError::Busy => {
                Self::busy("busy", "others hold it, or are in line; wait_ms waits for them")
            }
            AcquireError::Paused { .. } => Self::busy("paused", error),
            AcquireError::TimedOut => Self::busy("timed out", error),
            AcquireError::TooManyWaiting => Self::busy("too many waiting", error),
            AcquireError::OtherKind { .. } => Self::conflict("other kind", error),
            AcquireError::OtherLimit { .. } => Self::conflict("other limit", error),
            AcquireError::TooMany { .. } => Self::conflict("above the limit", error),
            AcquireError::NoSuchSlot { .. } => Self::conflict("no such slot", error),
            AcquireError::Ended(_) => Self::conflict("ended", error),
            AcquireError::Unknown => Self::not_found(error),
            AcquireError::Closed => Self::unavailable(error),
            AcquireError::Store(error) => Self::from(error),
            other => Self::bad(other),
        }
    }
}

impl From<AdminError> for Problem {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Unknown(_) => Self::not_found(error),
            AdminError::Ended(_) => Self::new(StatusCode::GONE, "ended", error),
            AdminError::FixedLimit(_) => Self::conflict("fixed limit", error),
            AdminError::SlotsInUse { .. } => Self::conflict("slots in use", error),
            AdminError::Closed => Self::unavailable(error),
            AdminError::Store(error) => Self::from(error),
            other => Self::bad(other),
        }
    }
}

impl From<QueueError> for Problem {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::NoSuchItem(_) => Self::not_found(error),
            QueueError::Unknown(_) => Self::unknown(error),
            QueueError::Closed => Self::unavailable(error),
            QueueError::Store(error) => Self::from(error),
            other => Self::bad(other),
        }
    }
}

impl From<PushError> for Problem {
    fn from(error: PushError) -> Self {
        match error {
            PushError::TooLarge(_) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too large", error),
            PushError::Unknown(_) => Self::unknown(error),
            PushError::Closed => Self::unavailable(error),
            PushError::Store(error) => Self::from(error),
            other => Self::bad(other),
        }
    }
}

impl From<PopError> for Problem {
    fn from(error: PopError) -> Self {
        match error {
            PopError::TimedOut => Self::busy("timed out", error),
            PopError::Closed => Self::unavailable(error),
            PopError::Store(error) => Self::from(error),
            other => Self::bad(other),
        }
    }
}

impl From<FinishError> for Problem {
    fn from(error: FinishError) -> Self {
        match error {
            FinishError::Lost => Self::new(StatusCode::GONE, "lost", error),
            FinishError::Closed => Self::unavailable(error),
            other => Self::unknown(other),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Unreachable | StoreErrorKind::Closed => Self::unavailable(error),
            StoreErrorKind::Full => Self::new(StatusCode::INSUFFICIENT_STORAGE, "full", error),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "store", error),
        }
    }
}

pub(crate) async fn no_such_address() -> Problem {
    Problem::not_found("there is no such address; /v1/openapi.json lists them")
}

pub(crate) async fn no_such_method() -> Problem {
    let words = "this address does not know that method; /v1/openapi.json lists them";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed", words)
}

/// The statuses of problems that every operation may answer with, for the document.
const STATUSES: [(&str, &str); 16] = [
    ("400", "The request cannot be understood, or asks for something impossible."),
    ("401", "A token is needed."),
    ("403", "This token may not do that, or the program was not started for it."),
    ("404", "There is no such thing."),
    ("405", "Not that method."),
    ("408", "The body did not come in time."),
    ("409", "The state of the name contradicts the request."),
    ("410", "It is over."),
    ("413", "The body or a payload is too large."),
    ("415", "The body is no JSON by its content type."),
    ("421", "The request names a host that is not this one."),
    ("429", "Others were in the way, or the name is paused: ask again later."),
    ("500", "The store is set up in a way that cannot work, or refuses this program."),
    ("503", "The store does not answer, or too much is open here: ask again later."),
    ("504", "It may have been carried out: ask again with the same ticket, or look first."),
    ("507", "The store has no room."),
];

impl IntoResponses for Problem {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        STATUSES.iter().map(|(status, words)| ((*status).to_owned(), described(words))).collect()
    }
}

fn described(words: &str) -> RefOr<Described> {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let response = ResponseBuilder::new().description(words);
    response.content("application/problem+json", content).build().into()
}
