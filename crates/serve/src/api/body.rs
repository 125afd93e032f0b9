//! Reads bodies, paths and queries strictly. A mistake in them is answered as a problem.

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

/// How long a client may take to send a body. Without a bound, a client that sends half of a body
/// would keep its connection for good.
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
        // A body must be an object. Serde alone would accept a list of the fields, too.
        T::deserialize(whole(Value::Object(fields))).map(Self).map_err(Problem::bad)
    }
}

/// Replaces numbers such as 40.0 by 40, which is the same number in JSON.
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
        // Beyond this number a float cannot hold a fraction.
        Some(near) if number.is_f64() && near.fract() == 0.0 && near.abs() < 9e15 => {
            Number::from(near as i64)
        }
        _ => number,
    }
}

/// The parameters in the path of the address.
pub(super) struct FromPath<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for FromPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(at)| Self(at)).map_err(|refused| Problem::bad(refused.body_text()))
    }
}

/// The parameters behind the `?`.
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

/// A client that may change the permits and items of others.
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

/// Returns the sender of a request, unless a page of another site has sent it. A browser already
/// asks the server before it sends JSON across sites, and gets no permission. So this is a second
/// check.
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

/// Reads a number of milliseconds within these bounds.
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
