//! Reads bodies, paths and queries strictly. An error in them is a problem like any other.

use std::{ops::RangeInclusive, time::Duration};

use axum::{
    Json,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{StatusCode, request::Parts},
};
use seinpaal::Ticket;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use tokio::time::timeout;

use crate::{
    access::{Visitor, is_from_here},
    problem::Problem,
};

/// How long a client may take to send a body. One that sends half of it would otherwise keep its
/// connection for good.
const BODY_TIMEOUT: Duration = Duration::from_secs(40);

/// A body of JSON.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let reading = Json::<Map<String, Value>>::from_request(request, state);
        let Ok(body) = timeout(BODY_TIMEOUT, reading).await else {
            let words = format!("the body did not come within {BODY_TIMEOUT:?}");
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too slow", words));
        };
        let Json(fields) = body.map_err(|refused| {
            let title = match refused.status() {
                StatusCode::UNSUPPORTED_MEDIA_TYPE => "not JSON",
                StatusCode::PAYLOAD_TOO_LARGE => "too large",
                _ => return Problem::bad(refused.body_text()),
            };
            Problem::new(refused.status(), title, refused.body_text())
        })?;
        // Only an object will do. Serde alone would take a list of the fields, too.
        T::deserialize(whole(Value::Object(fields))).map(Self).map_err(Problem::bad)
    }
}

/// The value with 40 for 40.0, which is the same number in JSON.
fn whole(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, whole(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(whole).collect()),
        Value::Number(number) => Value::Number(whole_number(number)),
        other => other,
    }
}

fn whole_number(number: Number) -> Number {
    match number.as_f64() {
        // Beyond this number a fraction cannot be told.
        Some(near) if number.is_f64() && near.fract() == 0.0 && near.abs() < 9e15 => {
            Number::from(near as i64)
        }
        _ => number,
    }
}

/// The part of the address.
pub(super) struct FromPath<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for FromPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(at)| Self(at)).map_err(|refused| Problem::bad(refused.body_text()))
    }
}

/// The part behind the `?`.
pub(super) struct FromQuery<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for FromQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(asked)| Self(asked)).map_err(|refused| Problem::bad(refused.body_text()))
    }
}

/// A client that may take permits and items.
pub(super) struct User(pub(super) Visitor);

/// A client that may change what others have.
pub(super) struct Operator(pub(super) Visitor);

impl<S: Send + Sync> FromRequestParts<S> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let visitor = visitor_from_here(parts)?;
        if visitor.may_use { Ok(Self(visitor)) } else { Err(Problem::not_in_use()) }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let visitor = visitor_from_here(parts)?;
        if visitor.may_act { Ok(Self(visitor)) } else { Err(Problem::not_an_operator()) }
    }
}

/// The sender of a request that does not come from a page of another site. A browser sends no JSON
/// across sites without asking first, and then it is told nothing. So this is a second bolt on that
/// door.
fn visitor_from_here(parts: &Parts) -> Result<Visitor, Problem> {
    let foreign = || {
        let words = "a page of another site sent this";
        Problem::new(StatusCode::FORBIDDEN, "forbidden", words)
    };
    let visitor = parts.extensions.get::<Visitor>().filter(|_| is_from_here(&parts.headers));
    visitor.cloned().ok_or_else(foreign)
}

pub(super) fn ticket(text: &str) -> Result<Ticket, Problem> {
    text.parse().map_err(|_| Problem::bad("a ticket has 32 hexadecimal digits"))
}

/// Milliseconds, within these bounds.
pub(super) fn duration(
    of: &str,
    ms: u64,
    bounds: RangeInclusive<Duration>,
) -> Result<Duration, Problem> {
    let duration = Duration::from_millis(ms);
    let (least, most) = (bounds.start().as_millis(), bounds.end().as_millis());
    let words = || format!("{of} is {ms}, and may be {least} to {most}");
    if bounds.contains(&duration) { Ok(duration) } else { Err(Problem::bad(words())) }
}

#[cfg(test)]
mod tests {
    use axum::body::Body as Sent;
    use futures_util::stream;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Anything {}

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_half_way_is_not_waited_for() {
        let half = stream::once(async { Ok::<_, std::convert::Infallible>("{") });
        let sent = Sent::from_stream(stream::StreamExt::chain(half, stream::pending()));
        let request = Request::post("/").header("content-type", "application/json").body(sent);
        let read = Body::<Anything>::from_request(request.unwrap(), &()).await;
        let refused = axum::response::IntoResponse::into_response(read.err().unwrap());
        assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
    }
}
