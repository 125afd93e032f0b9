//! The line at the bottom where something is chosen, typed and confirmed, key by key.

use seinpaal::{ItemId, MAX_LIMIT, MAX_TTL, MIN_TTL, Name, Ticket, store::url::parse_duration};

use super::{deed::Deed, keys::Key};

/// The longest reason, in characters.
const MOST_REASON: usize = 200;

/// The row at the cursor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Target {
    /// A name, and of its holders and waiters the one at the cursor, as it is shown.
    Name { name: Name, is_paused: bool, row: Option<TicketRow> },
    /// A queue, and what of it is at the cursor.
    Queue { name: Name, is_paused: bool, row: Option<QueueRow> },
}

/// A holder or a waiter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TicketRow {
    pub(super) ticket: Ticket,
    /// How it is called.
    pub(super) shown: String,
    pub(super) holds: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum QueueRow {
    InWork(ItemId),
    Dead(ItemId),
}

/// The question that is open.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Prompt {
    name: Name,
    step: Step,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Step {
    /// A key for each action.
    Choose(Vec<Choice>),
    /// A number or a reason.
    Type { of: Field, text: String, complaint: &'static str },
    /// `y`, or the name itself.
    Confirm { deed: Deed, typed: String },
}

type Choice = (char, String, Then);

/// The result of a choice.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Then {
    Ask(Field),
    Confirm(Deed),
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Field {
    Limit,
    QueueLimit,
    Reason,
    QueueReason,
    /// Why this holder is asked to hand over.
    AskReason(Ticket, String),
    /// How many permits are reserved, for how long and why.
    Reservation,
}

/// The result of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    /// It goes on.
    Open,
    /// Nothing is done.
    Left,
    Do(Name, Deed),
}

impl Prompt {
    pub(super) fn new(target: Target) -> Self {
        let (name, choices) = match target {
            Target::Name { name, is_paused, row } => (name, of_name(is_paused, row)),
            Target::Queue { name, is_paused, row } => (name, of_queue(is_paused, row)),
        };
        Self { name, step: Step::Choose(choices) }
    }

    /// The line as it stands.
    pub(super) fn line(&self) -> String {
        let name = &self.name;
        match &self.step {
            Step::Choose(choices) => {
                let words = choices.iter().map(|(key, words, _)| format!("{key}: {words}"));
                format!("{name}: {} · esc: leave", words.collect::<Vec<_>>().join(" · "))
            }
            Step::Type { of, text, complaint } => {
                let asked = match of {
                    Field::Limit => "new limit (0 admits nobody)",
                    Field::QueueLimit => "how many in work at once, or none",
                    Field::Reason | Field::QueueReason => "reason, shown to people",
                    Field::AskReason(..) => "reason, told to the holder and shown to people",
                    Field::Reservation => "how many, for how long, and why (2 1h driver update)",
                };
                format!("{name}: {asked}: {text}_{complaint}")
            }
            Step::Confirm { deed, typed } if deed.is_typed() => {
                format!("{} · type {name} to confirm: {typed}_", deed.question(name))
            }
            Step::Confirm { deed, .. } => {
                format!("{} · y: yes · any other key: no", deed.question(name))
            }
        }
    }

    /// Whether it asks if something is to be done.
    pub(super) fn asks_whether(&self) -> bool {
        matches!(self.step, Step::Confirm { .. })
    }

    pub(super) fn press(&mut self, key: Key) -> Outcome {
        if key == Key::Escape {
            return Outcome::Left;
        }
        match &mut self.step {
            Step::Choose(choices) => {
                let wanted = choices.iter().find(|(letter, ..)| key == Key::Char(*letter));
                let Some((_, _, then)) = wanted else { return Outcome::Open };
                self.step = match then.clone() {
                    Then::Ask(of) => Step::Type { of, text: String::new(), complaint: "" },
                    Then::Confirm(deed) => Step::Confirm { deed, typed: String::new() },
                };
                Outcome::Open
            }
            Step::Type { of, text, complaint } => {
                if key != Key::Enter {
                    edit(text, key);
                    return Outcome::Open;
                }
                match of.deed(text) {
                    Some(deed) => self.step = Step::Confirm { deed, typed: String::new() },
                    None => *complaint = of.complaint(),
                }
                Outcome::Open
            }
            Step::Confirm { deed, typed } if deed.is_typed() && key != Key::Enter => {
                edit(typed, key);
                Outcome::Open
            }
            Step::Confirm { deed, typed } => {
                let is_sure = match deed.is_typed() {
                    true => *typed == self.name.as_str(),
                    false => key == Key::Char('y'),
                };
                if is_sure { Outcome::Do(self.name.clone(), deed.clone()) } else { Outcome::Left }
            }
        }
    }
}

/// Applies a key to a line of text.
pub(super) fn edit(text: &mut String, key: Key) {
    match key {
        Key::Char(c) if text.chars().count() < MOST_REASON => text.push(c),
        Key::Backspace => drop(text.pop()),
        _ => {}
    }
}

impl Field {
    fn complaint(&self) -> &'static str {
        match self {
            Self::AskReason(..) => "  (type a reason)",
            Self::Reservation => "  (a number, 100ms to 1d, and a reason)",
            _ => "  (type a number)",
        }
    }

    fn deed(&self, text: &str) -> Option<Deed> {
        let number = || text.trim().parse().ok().filter(|number| *number <= MAX_LIMIT);
        Some(match self {
            Self::Limit => Deed::Limit(number()?),
            Self::QueueLimit if text.trim() == "none" => Deed::QueueLimit(None),
            Self::QueueLimit => Deed::QueueLimit(Some(number()?)),
            Self::Reason => Deed::Pause(text.to_owned()),
            Self::QueueReason => Deed::QueuePause(text.to_owned()),
            Self::AskReason(ticket, shown) => {
                let reason = Some(text.trim().to_owned()).filter(|reason| !reason.is_empty())?;
                Deed::Ask { ticket: *ticket, shown: shown.clone(), reason }
            }
            Self::Reservation => reservation(text)?,
        })
    }
}

fn reservation(text: &str) -> Option<Deed> {
    let mut words = text.trim().splitn(3, ' ');
    let permits = words.next()?.parse().ok().filter(|permits| (1..=MAX_LIMIT).contains(permits))?;
    let length = parse_duration(words.next()?).ok();
    let length = length.filter(|length| (MIN_TTL..=MAX_TTL).contains(length))?;
    let reason = Some(words.next()?.trim().to_owned()).filter(|reason| !reason.is_empty())?;
    Some(Deed::Reserve { permits, length, reason })
}

fn of_name(is_paused: bool, row: Option<TicketRow>) -> Vec<Choice> {
    let mut choices = vec![
        ('l', "limit".to_owned(), Then::Ask(Field::Limit)),
        ('u', "unset the limit".to_owned(), Then::Confirm(Deed::Unset)),
        match is_paused {
            true => ('r', "resume".to_owned(), Then::Confirm(Deed::Resume)),
            false => ('p', "pause".to_owned(), Then::Ask(Field::Reason)),
        },
        ('v', "reserve".to_owned(), Then::Ask(Field::Reservation)),
    ];
    let Some(TicketRow { ticket, shown, holds }) = row else { return choices };
    if holds {
        let reason = Field::AskReason(ticket, shown.clone());
        choices.push(('a', "ask it to hand over".to_owned(), Then::Ask(reason)));
    }
    choices.push(('e', format!("evict {shown}"), Then::Confirm(Deed::Evict { ticket, shown })));
    choices
}

fn of_queue(is_paused: bool, row: Option<QueueRow>) -> Vec<Choice> {
    let confirm = |key, words: &str, deed| (key, words.to_owned(), Then::Confirm(deed));
    let mut choices = vec![
        ('l', "limit".to_owned(), Then::Ask(Field::QueueLimit)),
        match is_paused {
            true => confirm('r', "resume", Deed::QueueResume),
            false => ('p', "pause".to_owned(), Then::Ask(Field::QueueReason)),
        },
        confirm('x', "purge", Deed::Purge),
    ];
    match row {
        Some(QueueRow::InWork(id)) => {
            choices.push(confirm('c', &format!("cancel {id}"), Deed::Cancel(id)));
            choices.push(confirm('C', "cancel all in work", Deed::CancelAll));
        }
        Some(QueueRow::Dead(id)) => choices.extend([
            confirm('t', &format!("replay {id}"), Deed::Replay(id)),
            confirm('d', &format!("drop {id}"), Deed::Drop(id)),
            confirm('T', "replay all", Deed::ReplayAll),
            confirm('D', "drop all", Deed::DropAll),
        ]),
        None => {}
    }
    choices
}

#[cfg(test)]
mod tests;
