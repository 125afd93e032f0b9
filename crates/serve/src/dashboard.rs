//! The table of addresses, and the state that their handlers share.

use std::{fmt, sync::Arc};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use seinpaal::{Name, Seinpaal};
use tokio::sync::Semaphore;

use crate::{
    access,
    act::{self, asked::AskedItems},
    api, assets,
    audit::Audit,
    deliveries::Deliveries,
    live, metrics,
    options::{BadOption, Options},
    page,
    replay::ReplayedAnswers,
    shared::HandlerState,
    source::StoreSource,
    tally,
    under_way::ChangesUnderWay,
    watch::PageWatches,
};

/// The longest body of a request, in bytes: a form with a name and a reason.
const MOST_BODY: usize = 16 * 1024;

/// Pages and an HTTP API over one connection to a store.
#[derive(Clone)]
pub struct Dashboard(Arc<HandlerState>);

impl fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dashboard").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Dashboard {
    /// Makes pages of the store to which this connection goes. While a page is open, its list is
    /// read once a second, or its name or queue twice a second. Without an open page nothing is
    /// read, except the names in [`Options::metrics_of`].
    ///
    /// # Errors
    /// [`BadOption`] says which option cannot be used, in one line.
    pub fn new(seinpaal: Seinpaal, options: Options) -> Result<Self, BadOption> {
        if !is_base_path(&options.base_path) {
            return Err(BadOption::BasePath(options.base_path));
        }
        check_names(&options.metrics_of)?;
        let audit = Audit::open(options.audit.as_deref())?;
        let streams = Arc::new(Semaphore::new(options.streams));
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| BadOption::Random)?;
        Ok(Self(Arc::new(HandlerState {
            source: Arc::new(StoreSource::new(seinpaal, options)),
            watches: PageWatches::default(),
            audit,
            changes: ChangesUnderWay::default(),
            streams,
            answers: ReplayedAnswers::default(),
            asked: AskedItems::default(),
            deliveries: Deliveries::default(),
            csrf: random.iter().map(|byte| format!("{byte:02x}")).collect(),
        })))
    }

    /// Returns the router of the pages and the HTTP API under their base path. It checks the host
    /// and the sender of every request, and the origin of the form of a change.
    pub fn router(&self) -> Router {
        let pages = Router::new()
            .route("/", get(page::names))
            .route("/queues", get(page::queues))
            .route("/name", get(page::name))
            .route("/queue", get(page::queue))
            .route("/changes", get(page::changes))
            .route("/confirm", get(act::confirm))
            .route("/act", post(act::act).layer(DefaultBodyLimit::max(MOST_BODY)))
            .route("/live", get(live::live))
            .route("/metrics", get(metrics::metrics))
            .route("/healthz", get(page::health))
            .route("/assets/{file}", get(assets::asset))
            .nest("/v1", api::router())
            .fallback(page::not_found);
        let pages = match self.0.options.base_path.as_str() {
            "" => pages,
            // `nest` alone would serve `/locks`, but not `/locks/`.
            base => Router::new().route(&format!("{base}/"), get(page::names)).nest(base, pages),
        };
        pages
            // This layer is around all routes, so that requests for unknown addresses are checked,
            // too.
            .layer(middleware::from_fn_with_state(Arc::clone(&self.0), access::check))
            .with_state(Arc::clone(&self.0))
    }

    /// Waits until each change that has begun is made, or has failed, and is in the audit. Await
    /// this before the program ends, for as long as it can wait. The audit lists a change that is
    /// dropped with the runtime as one whose outcome is unknown.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    ///
    /// # If the store is unreachable
    /// A change fails if the store does not answer one of its calls within 5 s.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// use seinpaal::Seinpaal;
    /// use seinpaal_serve::{Dashboard, Options};
    ///
    /// let dashboard = Dashboard::new(Seinpaal::in_memory(), Options::default())?;
    /// let app: axum::Router = dashboard.router(); // serve it until the program is to end
    /// dashboard.changes_are_noted().await;
    /// # drop(app);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn changes_are_noted(&self) {
        self.0.changes.none().await;
    }
}

fn check_names(names: &[String]) -> Result<(), BadOption> {
    if names.len() > tally::MOST {
        return Err(BadOption::MetricsOf(names.len()));
    }
    let check =
        |name: &String| Name::new(name).map_err(|error| BadOption::Name(name.clone(), error));
    names.iter().try_for_each(|name| check(name).map(drop))
}

fn is_base_path(path: &str) -> bool {
    // The path is written unchanged into links, and into the header that leads back from a form.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let is_well_formed = path.starts_with('/') && !path.ends_with('/') && !path.contains("//");
    path.is_empty() || (is_well_formed && path.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_path_is_one_or_more_plain_words() {
        assert!(["", "/locks", "/a/b-c_d.e"].into_iter().all(is_base_path));
        assert!(
            !["locks", "/locks/", "/", "/a//b", "/a b", "/{a}", "/\""]
                .into_iter()
                .any(is_base_path)
        );
    }
}
