//! What all handlers share, and the table of addresses.

use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use seinpaal::Seinpaal;
use tokio::sync::Semaphore;

use crate::{
    access, act, api, assets, audit::Audit, lists::Lists, live, metrics, page, tokens::Tokens,
    watch::Watches,
};

/// The longest body of a request, in bytes: a form with a name and a reason.
const MOST_BODY: usize = 16 * 1024;
/// How long a request may take that is not a stream.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// How the pages behave.
#[derive(Clone, Debug)]
pub struct Options {
    /// What stands before every address, as behind a proxy: empty, or `/locks`. Default: empty.
    pub base_path: String,
    /// Whether dead letters show the beginning of their payloads. Default: yes.
    pub payloads: bool,
    /// Whether those who may operate can change anything. Default: no.
    pub allow_actions: bool,
    /// Whether programs can take permits and items by HTTP. Default: no. They can look in any case.
    pub api: bool,
    /// Who may come in. Default: anybody who can reach the port, as [`Role::Operate`](crate::Role::Operate).
    pub tokens: Option<Tokens>,
    /// Names under which the pages are reached, without port, beside those of this machine's loopback. A request that
    /// names another host is refused, or a foreign page could read this one through its visitor's browser.
    pub hosts: Vec<String>,
    /// A file to which each change is appended as a line of JSON.
    pub audit: Option<PathBuf>,
    /// How many pages may be kept up to date, and requests of programs may wait or hold, at once. Default: 1000.
    pub streams: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base_path: String::new(),
            payloads: true,
            allow_actions: false,
            api: false,
            tokens: None,
            hosts: Vec::new(),
            audit: None,
            streams: 1000,
        }
    }
}

/// An option that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum BadOption {
    /// The base path is not `/` and letters, digits, `-`, `_`, `.`, or `/`.
    BasePath(String),
    /// The file for the audit cannot be opened.
    Audit(PathBuf, io::Error),
    /// The system has no random numbers.
    Random,
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BasePath(path) => write!(
                f,
                "{path:?} is no base path: it begins with / and does not end with one, like /locks"
            ),
            Self::Audit(path, error) => {
                write!(f, "cannot append to {}: {error}; is its directory there?", path.display())
            }
            Self::Random => f.write_str("the system has no random numbers"),
        }
    }
}

impl std::error::Error for BadOption {}

/// Pages over one connection to a store.
#[derive(Clone)]
pub struct Dashboard(Arc<Inner>);

impl fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dashboard").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// What all handlers share.
pub(crate) struct Inner {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) options: Options,
    pub(crate) lists: Lists,
    pub(crate) watches: Watches,
    pub(crate) audit: Audit,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) answers: api::Answers,
    pub(crate) deliveries: api::Deliveries,
    /// What every form of this program has in it, and no foreign page knows.
    pub(crate) csrf: String,
}

impl Dashboard {
    /// Pages of the store that this connection goes to. They ask it once a second for what somebody looks at, and nothing
    /// while nobody looks.
    ///
    /// # Errors
    /// [`BadOption`] says which option cannot be used, in one line.
    pub fn new(seinpaal: Seinpaal, options: Options) -> Result<Self, BadOption> {
        if !is_base_path(&options.base_path) {
            return Err(BadOption::BasePath(options.base_path));
        }
        let audit = Audit::open(options.audit.as_deref())?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| BadOption::Random)?;
        Ok(Self(Arc::new(Inner {
            lists: Lists::new(seinpaal.clone()),
            seinpaal,
            watches: Watches::default(),
            audit,
            streams: Arc::new(Semaphore::new(options.streams)),
            answers: api::Answers::default(),
            deliveries: api::Deliveries::default(),
            csrf: random.iter().map(|byte| format!("{byte:02x}")).collect(),
            options,
        })))
    }

    /// The pages under their base path. Every request is checked: its host, who it is from, and of a change where its form
    /// came from.
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
            base => Router::new().route(&format!("{base}/"), get(page::names)).nest(base, pages),
        };
        pages
            .layer(middleware::from_fn_with_state(Arc::clone(&self.0), access::check))
            .with_state(Arc::clone(&self.0))
    }
}

fn is_base_path(path: &str) -> bool {
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
