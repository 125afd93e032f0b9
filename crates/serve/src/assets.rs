//! The files that are part of the program.

use axum::{
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

/// Answers with one of these files.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let (kind, body) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", include_str!("../assets/style.css")),
        "script.js" => ("text/javascript; charset=utf-8", include_str!("../assets/script.js")),
        "icon.svg" => ("image/svg+xml", include_str!("../assets/icon.svg")),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}
