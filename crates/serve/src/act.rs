//! Changes: a page that asks, and the form that it sends. Neither exists for those who may not act.

pub(crate) mod verb;

use std::{collections::BTreeMap, sync::Arc};

use askama::Template;
use axum::{
    Extension,
    extract::{Form, Query as Fields, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use seinpaal::{ItemId, Queue, QueueError, Ticket};

use crate::{
    access::{Visitor, is_from_here, is_our_form},
    audit::{self, Change},
    page::{self, Around, named, notice},
    shared::Inner,
    view::{encoded, shown},
};
use verb::{Verb, Words};

/// The longest reason, in characters. A store keeps 512 bytes.
const MOST_REASON: usize = 200;
const MOST_REASON_BYTES: usize = 512;
/// How many dead letters are asked for at once.
const PAGE: u32 = 100;

#[derive(Template)]
#[template(path = "confirm.html")]
struct Confirm<'a> {
    frame: Around<'a>,
    name: &'a str,
    back: String,
    question: String,
    consequence: &'a str,
    csrf: &'a str,
    verb: &'a str,
    target: &'a str,
    asks_number: bool,
    needs_reason: bool,
    typed: &'a str,
    button: &'a str,
    keep: &'a str,
    class: &'static str,
}

type FieldMap = BTreeMap<String, String>;

/// Asks whether to do it.
pub(crate) async fn confirm(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    Fields(fields): Fields<FieldMap>,
) -> Response {
    let wish = match Wish::new(&visitor, &fields) {
        Ok(wish) => wish,
        Err((status, words)) => return notice(&inner, &visitor, status, "Not done", &words),
    };
    let (words, base) = (wish.words, &inner.options.base_path);
    let short: String = wish.target.chars().take(8).collect();
    page::whole(&Confirm {
        frame: Around::new(&inner, &visitor, words.question.trim_end_matches('?'), ""),
        name: &wish.name,
        back: wish.page(base),
        question: words.question.replace('*', &short),
        consequence: words.consequence,
        csrf: &inner.csrf,
        verb: words.word,
        target: &wish.target,
        asks_number: words.verb.asks_number(),
        needs_reason: words.verb.needs_reason(),
        typed: if words.verb.is_typed() { &wish.name } else { "" },
        button: words.button,
        keep: words.keep,
        class: if words.is_dangerous { "danger" } else { "go" },
    })
}

/// Does it.
pub(crate) async fn act(
    State(inner): State<Arc<Inner>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    Form(fields): Form<FieldMap>,
) -> Response {
    let refuse = |status, words: &str| notice(&inner, &visitor, status, "Not done", words);
    let csrf = fields.get("csrf").map_or("", String::as_str);
    if !is_from_here(&headers) || !is_our_form(&inner, csrf) {
        let words = "This form was not made by this program, or was made before it was started anew. Go back, reload the page, and try again.";
        return refuse(StatusCode::FORBIDDEN, words);
    }
    let wish = match Wish::new(&visitor, &fields).and_then(|wish| wish.checked(&fields)) {
        Ok(wish) => wish,
        Err((status, words)) => return refuse(status, &words),
    };
    let result = wish.carry_out(&inner).await;
    let error = result.err().unwrap_or_default();
    let noted = inner.audit.note(wish.change(&visitor, &error));
    if !error.is_empty() {
        return refuse(StatusCode::CONFLICT, &format!("{}.", shown(&error)));
    }
    if let Err(error) = noted {
        let words = format!("It was done, but the audit could not be written: {error}.");
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, &words);
    }
    let to = format!("{}&done={}", wish.page(&inner.options.base_path), wish.words.word);
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// An action, checked as far as it can be without the store.
struct Wish {
    words: &'static Words,
    name: String,
    target: String,
    number: Option<u32>,
    reason: String,
}

type Refusal = (StatusCode, String);

impl Wish {
    fn new(visitor: &Visitor, fields: &FieldMap) -> Result<Self, Refusal> {
        if !visitor.may_act {
            let words = "Nothing can be changed from here: the program was started without --allow-actions, or your token may only read.";
            return Err((StatusCode::FORBIDDEN, words.to_owned()));
        }
        let field = |name: &str| fields.get(name).map_or("", String::as_str);
        let words = Verb::find(field("do")).ok_or_else(|| bad("There is no such action."))?;
        let name = named(fields).map_err(|words| bad(&words))?;
        let target = field("t").to_owned();
        let is_target = match words.verb {
            Verb::Evict => target.parse::<Ticket>().is_ok(),
            verb if verb.has_target() => target.parse::<u64>().is_ok(),
            _ => target.is_empty(),
        };
        if !is_target {
            return Err(bad("This is not a ticket or an item."));
        }
        Ok(Self { words, name, target, number: None, reason: String::new() })
    }

    /// With what the form asked for.
    fn checked(self, fields: &FieldMap) -> Result<Self, Refusal> {
        let field = |name: &str| fields.get(name).map_or("", |text| text.trim());
        let (verb, reason) = (self.words.verb, field("reason"));
        if reason.chars().any(char::is_control)
            || reason.chars().count() > MOST_REASON
            || reason.len() > MOST_REASON_BYTES
        {
            return Err(bad(
                "The reason is too long, or has a character in it that cannot be shown.",
            ));
        }
        if verb.needs_reason() && reason.is_empty() {
            return Err(bad("A reason is needed."));
        }
        if verb.is_typed() && fields.get("typed") != Some(&self.name) {
            return Err(bad("What was typed is not the name. Nothing was changed."));
        }
        let number = match (verb.asks_number(), field("number")) {
            (false, _) | (true, "") => None,
            (true, text) => Some(
                text.parse::<u32>()
                    .map_err(|_| bad("The limit is a number from 0 to 1 000 000 000."))?,
            ),
        };
        Ok(Self { number, reason: reason.to_owned(), ..self })
    }

    /// The page to come back to.
    fn page(&self, base: &str) -> String {
        let kind = self.kind();
        format!("{base}/{kind}?n={}", encoded(&self.name))
    }

    fn kind(&self) -> &'static str {
        if self.words.verb.is_of_queue() { "queue" } else { "name" }
    }

    fn change(&self, visitor: &Visitor, error: &str) -> Change {
        let word = self.words.word.trim_start_matches("queue-");
        let number = match (self.words.verb.asks_number(), self.number) {
            (false, _) => String::new(),
            (true, None) => " unset".to_owned(),
            (true, Some(number)) => format!(" {number}"),
        };
        let target =
            if self.target.is_empty() { String::new() } else { format!(" {}", self.target) };
        Change {
            at: audit::now(),
            who: visitor.who.clone(),
            kind: self.kind(),
            name: self.name.clone(),
            what: format!("{word}{number}{target}"),
            reason: self.reason.clone(),
            result: error.to_owned(),
        }
    }

    async fn carry_out(&self, inner: &Inner) -> Result<(), String> {
        if self.words.verb.is_of_queue() {
            let queue = inner.seinpaal.queue(&self.name);
            return self.on_queue(&queue).await.map_err(|error| error.to_string());
        }
        let name = inner.seinpaal.semaphore(&self.name);
        let done = match (self.words.verb, self.number) {
            (Verb::Limit, Some(limit)) => name.set_limit(limit).await,
            (Verb::Limit, None) => name.unset_limit().await,
            (Verb::Pause, _) => name.pause(&self.reason).await,
            (Verb::Resume, _) => name.resume().await,
            (_, _) => match self.target.parse() {
                Ok(ticket) => name.evict(ticket).await,
                Err(_) => return Err("this is not a ticket".to_owned()),
            },
        };
        done.map_err(|error| error.to_string())
    }

    async fn on_queue(&self, queue: &Queue) -> Result<(), QueueError> {
        let item = ItemId(self.target.parse().unwrap_or_default());
        match self.words.verb {
            Verb::QueueLimit => queue.limit(self.number).await,
            Verb::QueuePause => queue.pause(&self.reason).await,
            Verb::QueueResume => queue.resume().await,
            Verb::Purge => queue.purge().await.map(drop),
            Verb::Cancel => queue.cancel(item).await.map(drop),
            Verb::Replay => queue.replay(item).await,
            Verb::ReplayAll => replay_all(queue).await,
            Verb::Drop => queue.drop_dead(item).await,
            _ => queue.purge_dead().await.map(drop),
        }
    }
}

/// All that are dead now: what dies again meanwhile has a number that was passed already.
async fn replay_all(queue: &Queue) -> Result<(), QueueError> {
    let (mut ids, mut after): (Vec<ItemId>, _) = (Vec::new(), None);
    loop {
        let letters = queue.dead(after, PAGE).await?;
        let Some(last) = letters.last() else { break };
        after = Some(last.id);
        ids.extend(letters.iter().map(|letter| letter.id));
    }
    for id in ids {
        match queue.replay(id).await {
            // Somebody else was faster.
            Ok(()) | Err(QueueError::NoSuchItem(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn bad(words: &str) -> Refusal {
    (StatusCode::BAD_REQUEST, words.to_owned())
}
