//! An answer of JSON, as the text that is sent.

use axum::{
    body::Bytes,
    http::header,
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::problem::Problem;

/// JSON as text. A copy shares the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct JsonText(Bytes);

impl JsonText {
    pub(crate) fn of(answer: &impl Serialize) -> Result<Self, Problem> {
        serde_json::to_vec(answer).map(|text| Self(text.into())).map_err(Problem::unknown)
    }

    /// Returns the length of the text in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len()
    }
}

impl IntoResponse for JsonText {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}
