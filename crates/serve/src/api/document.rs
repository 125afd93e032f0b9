//! The document that describes the API, made from the handlers.

use std::sync::Arc;

use axum::{Json, Router, routing::get};
use utoipa::{
    PartialSchema,
    openapi::{
        InfoBuilder, OpenApi, OpenApiBuilder,
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
        server::ServerBuilder,
    },
};

use crate::{problem::Problem, shared::HandlerState};

const ABOUT: &str = "\
At most N at once, everywhere, first come first served. Looking needs no option; taking permits and items needs `--api`, \
and with tokens one that may `use` or `operate`; what an operator changes needs `--allow-actions` and `operate`. \
All durations are in milliseconds.";

/// The text above the list of operations.
pub(super) fn head() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Seinpaal")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .build();
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let mut document = OpenApiBuilder::new()
        .info(info)
        .servers(Some([ServerBuilder::new().url(".").description(Some("here")).build()]))
        .security(Some([
            SecurityRequirement::default(),
            SecurityRequirement::new("token", [""; 0]),
        ]))
        .build();
    let components = document.components.get_or_insert_default();
    components.schemas.insert("Problem".to_owned(), Problem::schema());
    components.add_security_scheme("token", SecurityScheme::Http(token));
    document
}

/// Serves the document beside the other addresses.
pub(super) fn serve(
    router: Router<Arc<HandlerState>>,
    document: OpenApi,
) -> Router<Arc<HandlerState>> {
    let document = Arc::new(document);
    router.route("/openapi.json", get(move || async move { Json(OpenApi::clone(&document)) }))
}
