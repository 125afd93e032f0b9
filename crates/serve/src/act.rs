//! Changes: the page that asks for confirmation, and the form that it sends. Visitors who may not
//! act get neither.

mod about;
pub(crate) mod asked;
pub(crate) mod verb;
pub(crate) mod words;

use std::sync::Arc;

use askama::Template;
use axum::{
    Extension,
    extract::{Form, Query as Fields, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

use seinpaal::{ItemState, MAX_TTL, MIN_TTL, store::url::parse_duration};
use seinpaal_words::{
    matching::{CountedItems, Matching},
    ticket::DIGITS,
};

use crate::{
    access::{Visitor, is_from_here, is_our_form},
    carry::carry_out,
    deed::{NameDeed, Undone, WebDeed, is_reason},
    fields::{FieldMap, field},
    page::{self, PageFrame, named, notice},
    shared::HandlerState,
    view::{ItemQuery, encoded, grouped, shown},
};
use verb::Verb;
use words::ActionWords;

#[derive(Template)]
#[template(path = "confirm.html")]
struct Confirm<'a> {
    frame: PageFrame<'a>,
    name: &'a str,
    back: String,
    question: String,
    /// Whom the action affects.
    about: Vec<String>,
    consequence: &'a str,
    csrf: &'a str,
    /// The state and the search text of the items to change. `counted` is the number of the
    /// question, under which `serve` keeps these items.
    state: &'static str,
    matching: &'a str,
    counted: String,
    verb: &'a str,
    target: &'a str,
    /// The label of the number for which the form asks. It is empty if the form asks for none.
    number: &'static str,
    least: u8,
    asks_length: bool,
    needs_reason: bool,
    typed: &'a str,
    button: &'a str,
    keep: &'a str,
    class: &'static str,
}

/// Answers with the page that asks whether to make a change.
pub(crate) async fn confirm(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
    Fields(fields): Fields<FieldMap>,
) -> Response {
    let action = match CheckedAction::new(&inner, &visitor, &fields) {
        Ok(action) => action,
        Err((status, words)) => return notice(&inner, &visitor, status, "Not done", &words),
    };
    let counted = match action.count(&inner).await {
        Ok(counted) => counted,
        Err((status, words)) => return notice(&inner, &visitor, status, "Not done", &words),
    };
    let (words, base) = (action.words, &inner.options.base_path);
    let question = action.question(counted.as_ref());
    page::whole(&Confirm {
        frame: PageFrame::new(&inner, &visitor, question.trim_end_matches('?'), ""),
        name: &action.name,
        back: action.page(base),
        about: about::lines(&inner.seinpaal, &action.name, &action.deed).await,
        question,
        matching: &action.matching.text,
        counted: counted.map_or_else(String::new, |items| inner.asked.keep(items).to_string()),
        consequence: words.consequence(action.state),
        state: match words.verb {
            Verb::CancelAll => action.state.word(),
            _ => "",
        },
        csrf: &inner.csrf,
        verb: words.word,
        target: &action.target,
        number: words.verb.number_asked(),
        least: u8::from(words.verb == Verb::Reserve),
        asks_length: words.verb.asks_length(),
        needs_reason: words.verb.needs_reason(),
        typed: if words.verb.is_typed() { &action.name } else { "" },
        button: words.button,
        keep: words.keep,
        class: if words.is_dangerous { "danger" } else { "go" },
    })
}

/// Makes the change of a form.
pub(crate) async fn act(
    State(inner): State<Arc<HandlerState>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    Form(fields): Form<FieldMap>,
) -> Response {
    let refuse = |status, words: &str| notice(&inner, &visitor, status, "Not done", words);
    let csrf = field(&fields, "csrf");
    if !is_from_here(&headers) || !is_our_form(&inner, csrf) {
        let words = "This form was not made by this program, or was made before it was started anew. Go back, reload the page, and try again.";
        return refuse(StatusCode::FORBIDDEN, words);
    }
    let action = match CheckedAction::new(&inner, &visitor, &fields)
        .and_then(|action| action.checked(&fields))
    {
        Ok(action) => action,
        Err((status, words)) => return refuse(status, &words),
    };
    let deed = action.deed.clone();
    let done = match carry_out(deed, &inner, &visitor, &action.name, &action.reason).await {
        Ok(done) => done,
        Err(Undone::Unwritten(error)) => {
            let words = format!("It was done, but the audit could not be written: {error}.");
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, &words);
        }
        Err(error) => {
            let words = format!("{}.", shown(&error.to_string()));
            return refuse(StatusCode::CONFLICT, &words);
        }
    };
    let count = done.map_or_else(String::new, |items| format!("&count={items}"));
    let to = format!("{}&done={}{count}", action.page(&inner.options.base_path), action.words.word);
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// An action, checked as far as it can be without the store.
struct CheckedAction {
    words: &'static ActionWords,
    name: String,
    target: String,
    /// The state of the items to cancel, for an action on all items that match.
    state: ItemState,
    matching: Matching,
    deed: WebDeed,
    reason: String,
}

type ActionRefused = (StatusCode, String);

impl CheckedAction {
    fn new(
        inner: &HandlerState,
        visitor: &Visitor,
        fields: &FieldMap,
    ) -> Result<Self, ActionRefused> {
        if !visitor.may_act {
            let words = "Nothing can be changed from here: the program was started without --allow-actions, or your token may only read.";
            return Err((StatusCode::FORBIDDEN, words.to_owned()));
        }
        let field = |name: &str| field(fields, name);
        let words =
            ActionWords::find(field("do")).ok_or_else(|| bad("There is no such action."))?;
        let name = named(fields).map_err(|words| bad(&words))?;
        let target = field("t").to_owned();
        let matching = matching(inner, fields)?;
        let state = match field("state") {
            "" => ItemState::InWork,
            state => state.parse().map_err(|_| bad("There is no such state of items."))?,
        };
        // This deed has no number yet. It only shows whether the target fits the action. `checked`
        // makes the deed of a form.
        let deed = words.verb.deed(&target, None, (state, &matching));
        let deed = deed.ok_or_else(|| bad("This is not a ticket or an item."))?;
        Ok(Self { words, name, target, state, matching, deed, reason: String::new() })
    }

    /// Counts the items of an action on all items that match. The action later changes only these
    /// items.
    async fn count(&self, inner: &HandlerState) -> Result<Option<CountedItems>, ActionRefused> {
        let queue = inner.seinpaal.queue(&self.name);
        let counted = match self.words.verb {
            Verb::CancelAll => self.state,
            Verb::ReplayAll | Verb::DropAll => ItemState::Dead,
            _ => return Ok(None),
        };
        match self.matching.count(&queue, counted).await {
            Ok(counted) if counted.items() == 0 => Err(bad("There is nothing that matches.")),
            Ok(counted) => Ok(Some(counted)),
            Err(error) => {
                let words = format!("{}.", shown(&error.to_string()));
                Err((StatusCode::SERVICE_UNAVAILABLE, words))
            }
        }
    }

    fn question(&self, counted: Option<&CountedItems>) -> String {
        let many = self.words.verb.of_many(self.state).zip(counted);
        let (question, target) = match many {
            Some((question, counted)) => (question, self.many(counted.items())),
            // The question shows the first digits of a ticket, but the whole number of an item,
            // because the numbers of items begin alike.
            None if self.target.len() == DIGITS => {
                (self.words.question, self.target[..8].to_owned())
            }
            None => (self.words.question, self.target.clone()),
        };
        let name = shown(&self.name);
        let part = |c| match c {
            '*' => target.clone(),
            '@' => name.clone(),
            c => c.to_string(),
        };
        question.chars().map(part).collect()
    }

    fn many(&self, items: u64) -> String {
        let text = shown(&self.matching.text);
        match (items, text.as_str()) {
            (1, "") => "the one item that is".to_owned(),
            (1, text) => format!("the one item that matches “{text}” and is"),
            (many, "") => format!("all {} items that are", grouped(many)),
            (many, text) => format!("all {} items that match “{text}” and are", grouped(many)),
        }
    }

    /// Returns the action with the values of the form.
    fn checked(self, fields: &FieldMap) -> Result<Self, ActionRefused> {
        let field = |name: &str| field(fields, name).trim();
        let (verb, reason) = (self.words.verb, field("reason"));
        if !is_reason(reason) {
            return Err(bad(
                "The reason is too long, or has a character in it that cannot be shown.",
            ));
        }
        if verb.needs_reason() && reason.is_empty() {
            return Err(bad("A reason is needed."));
        }
        // The visitor may type the name as it is, or as the page shows it, because some characters
        // cannot be typed.
        let typed = crate::fields::field(fields, "typed");
        if verb.is_typed() && typed != self.name && typed != shown(&self.name) {
            return Err(bad("The text that you typed is not the name. Nothing was changed."));
        }
        let number = if verb.asks_number() { number(field("number"))? } else { None };
        let deed = match verb {
            Verb::Reserve => reserve(number, field("for"))?,
            verb => {
                let many = (self.state, &self.matching);
                verb.deed(&self.target, number, many).unwrap_or(self.deed)
            }
        };
        Ok(Self { deed, reason: reason.to_owned(), ..self })
    }

    /// Returns the address of the page to come back to.
    fn page(&self, base: &str) -> String {
        let matching = match self.matching.text.as_str() {
            "" => String::new(),
            text => format!("&match={}", encoded(text)),
        };
        format!("{base}/{}?n={}{matching}", self.deed.kind(), encoded(&self.name))
    }
}

/// Returns the selection of items that the fields describe.
fn matching(inner: &HandlerState, fields: &FieldMap) -> Result<Matching, ActionRefused> {
    let counted = match fields.get("counted") {
        None => None,
        Some(text) => {
            let question =
                text.parse().map_err(|_| bad("This is not the number of a question."))?;
            Some(inner.asked.of(question).ok_or_else(forgotten)?)
        }
    };
    let text = ItemQuery::from_fields(fields).text;
    Ok(Matching { text, with_payloads: inner.options.payloads, counted })
}

fn forgotten() -> ActionRefused {
    let words =
        "This question was asked too long ago, and nothing was changed. Go back, and ask again.";
    (StatusCode::CONFLICT, words.to_owned())
}

fn number(text: &str) -> Result<Option<u32>, ActionRefused> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse().map_err(|_| bad("A number from 0 to 1 000 000 000 is wanted."))?;
    Ok(Some(number))
}

fn reserve(number: Option<u32>, length: &str) -> Result<WebDeed, ActionRefused> {
    let permits = number.filter(|number| *number > 0);
    let permits = permits.ok_or_else(|| bad("How many permits are to be reserved?"))?;
    let length = parse_duration(length).ok().filter(|length| (MIN_TTL..=MAX_TTL).contains(length));
    let words = "For how long? Write 30m, 2h or 1d: a day at most.";
    let length = length.ok_or_else(|| bad(words))?;
    Ok(WebDeed::Name(NameDeed::Reserve(permits, length)))
}

fn bad(words: &str) -> ActionRefused {
    (StatusCode::BAD_REQUEST, words.to_owned())
}
