//! Whole pages. Their live parts come from the same frames as those of the stream.

mod subject;

use std::sync::Arc;

use askama::Template;
use axum::{
    Extension,
    extract::{Query as Fields, State},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use seinpaal::ItemState;

pub(crate) use self::subject::{named, subject};
use crate::{
    access::Visitor,
    act::words::done,
    audit::AuditEntry,
    fields::{FieldMap, field},
    shared::HandlerState,
    view::{self, ItemQuery, ListQuery, PageChoices, PageSubject, encoded},
    watch::{self, Frame, PagePart},
};

/// How many changes stand on the page of a name, and on the page of all changes.
const FEW: usize = 8;
const MANY: usize = 500;

/// The frame around every page.
pub(crate) struct PageFrame<'a> {
    pub(crate) title: String,
    pub(crate) tab: &'static str,
    pub(crate) base: &'a str,
    pub(crate) store: &'a str,
    pub(crate) role: String,
    pub(crate) trouble: String,
    pub(crate) stream: Option<String>,
    pub(crate) version: &'static str,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview<'a> {
    frame: PageFrame<'a>,
    parts: &'a [PagePart],
    page: PageChoices,
    search: &'a str,
    has_sorts: bool,
}

#[derive(Template)]
#[template(path = "one.html")]
struct One<'a> {
    frame: PageFrame<'a>,
    parts: &'a [PagePart],
    up: String,
    up_label: String,
    done: String,
    changes: Vec<AuditEntry>,
    /// The name of a queue whose items can be searched. `matching` is the search text.
    queue: Option<&'a str>,
    matching: &'a str,
    /// The state of the items, if the page shows one state alone.
    state: &'static str,
    all_items: String,
}

#[derive(Template)]
#[template(path = "changes.html")]
struct Changes<'a> {
    frame: PageFrame<'a>,
    changes: Vec<AuditEntry>,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct Notice<'a> {
    frame: PageFrame<'a>,
    words: &'a str,
}

/// Answers with the page of all names.
pub(crate) async fn names(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
    Fields(fields): Fields<FieldMap>,
) -> Response {
    let query = ListQuery::from_fields(&fields);
    overview(&inner, &visitor, &query, PageSubject::Names(query.clone())).await
}

/// Answers with the page of all queues.
pub(crate) async fn queues(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
    Fields(fields): Fields<FieldMap>,
) -> Response {
    let query = ListQuery::from_fields(&fields);
    overview(&inner, &visitor, &query, PageSubject::Queues(query.clone())).await
}

async fn overview(
    inner: &Arc<HandlerState>,
    visitor: &Visitor,
    query: &ListQuery,
    subject: PageSubject,
) -> Response {
    let frame = match look(inner, subject.clone()).await {
        Ok(frame) => frame,
        Err(refused) => return *refused,
    };
    let (title, tab) = match subject {
        PageSubject::Names(_) => ("Names", "names"),
        _ => ("Queues", "queues"),
    };
    let stream = format!("{}&of={tab}", query.link());
    let page = Overview {
        frame: PageFrame {
            trouble: trouble(&frame),
            stream: Some(format!("{}/live{stream}", inner.options.base_path)),
            ..PageFrame::new(inner, visitor, title, tab)
        },
        parts: &frame.parts[usize::from(visitor.may_act)],
        page: PageChoices::new(query),
        search: &query.search,
        has_sorts: tab == "names",
    };
    whole(&page)
}

/// Answers with the page of one name.
pub(crate) async fn name(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
    Fields(fields): Fields<FieldMap>,
) -> Response {
    one(&inner, &visitor, &fields, "names").await
}

/// Answers with the page of one queue.
pub(crate) async fn queue(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
    Fields(fields): Fields<FieldMap>,
) -> Response {
    one(&inner, &visitor, &fields, "queues").await
}

async fn one(
    inner: &Arc<HandlerState>,
    visitor: &Visitor,
    fields: &FieldMap,
    tab: &'static str,
) -> Response {
    let name = match named(fields) {
        Ok(name) => name,
        Err(words) => return notice(inner, visitor, StatusCode::BAD_REQUEST, "Not a name", &words),
    };
    let items = ItemQuery::from_fields(fields);
    let (kind, subject) = match tab {
        "names" => ("name", PageSubject::Name(name.clone())),
        _ => ("queue", PageSubject::Queue(name.clone(), items.clone())),
    };
    let frame = match look(inner, subject).await {
        Ok(frame) => frame,
        Err(refused) => return *refused,
    };
    let (base, link) = (&inner.options.base_path, encoded(&name));
    let stream = format!("{base}/live?of={kind}&n={link}{}", items.link());
    let (up, up_label) = way_up(tab, &name, &link, &items);
    let page = One {
        frame: PageFrame {
            trouble: trouble(&frame),
            stream: Some(stream),
            ..PageFrame::new(inner, visitor, &view::shown(&name), tab)
        },
        parts: &frame.parts[usize::from(visitor.may_act)],
        up,
        up_label,
        done: done(field(fields, "done"), field(fields, "count")),
        changes: inner.audit.last(Some((kind, &name)), FEW),
        queue: (kind == "queue").then_some(&name),
        matching: &items.text,
        state: items.only.map_or("", ItemState::word),
        all_items: format!("{base}/queue?n={link}"),
    };
    whole(&page)
}

/// Returns the address of the page to which this one leads back, and the words of the link. A list
/// of one state leads back to its queue.
fn way_up(tab: &str, name: &str, link: &str, items: &ItemQuery) -> (String, String) {
    match tab {
        "names" => (String::new(), "Names".to_owned()),
        _ if items.only.is_some() => (format!("queue?n={link}"), view::shown(name)),
        _ => ("queues".to_owned(), "Queues".to_owned()),
    }
}

/// Answers with the page of changes.
pub(crate) async fn changes(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let frame = PageFrame::new(&inner, &visitor, "Changes", "changes");
    whole(&Changes { frame, changes: inner.audit.last(None, MANY) })
}

/// Answers that the program runs, and says nothing about the store.
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

pub(crate) async fn not_found(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let words = "There is no such page here.";
    notice(&inner, &visitor, StatusCode::NOT_FOUND, "Not found", words)
}

async fn look(inner: &Arc<HandlerState>, subject: PageSubject) -> Result<Frame, Box<Response>> {
    match inner.watches.look(&inner.source, subject.clone()) {
        Ok(mut frames) => Ok(watch::first(&mut frames).await.with_places(subject.ids())),
        Err(watch::TooMany) => {
            let words = "too many names are looked at; try again in half a minute\n";
            Err(Box::new((StatusCode::SERVICE_UNAVAILABLE, words).into_response()))
        }
    }
}

/// Returns the sentence about data of a frame that are out of date or missing.
pub(crate) fn trouble(frame: &Frame) -> String {
    match &frame.trouble {
        Some((since, words)) => format!(
            "Stale: the store has not answered for {}. This page shows old data. ({})",
            view::about(since.elapsed()),
            view::shown(words)
        ),
        None if frame.version == 0 => "The store has not answered yet.".to_owned(),
        None => String::new(),
    }
}

/// Answers with a page of one sentence.
pub(crate) fn notice(
    inner: &HandlerState,
    visitor: &Visitor,
    status: StatusCode,
    title: &str,
    words: &str,
) -> Response {
    let page = Notice { frame: PageFrame::new(inner, visitor, title, ""), words };
    (status, whole(&page)).into_response()
}

pub(crate) fn whole(page: &impl Template) -> Response {
    Html(view::html(page)).into_response()
}

impl<'a> PageFrame<'a> {
    pub(crate) fn new(
        inner: &'a HandlerState,
        visitor: &Visitor,
        title: &str,
        tab: &'static str,
    ) -> Self {
        Self {
            title: title.to_owned(),
            tab,
            base: &inner.options.base_path,
            store: inner.seinpaal.address(),
            role: visitor.role.clone(),
            trouble: String::new(),
            stream: None,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
