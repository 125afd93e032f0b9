//! The line at the bottom, where the user chooses, types and confirms an action, key by key.

mod choices;

use seinpaal::{
    ItemId, ItemState, Kind, MAX_LIMIT, MAX_TTL, MIN_TTL, Name, Ticket, store::url::parse_duration,
};

use super::{
    deed::{ManyItems, TopDeed},
    keys::Key,
};

/// The longest text that can be typed, such as a reason, in characters.
const MOST_REASON: usize = 200;
/// The longest name that can be typed, in characters: names have as many bytes at most.
const MOST_NAME: usize = 512;

/// The row at the cursor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum CursorTarget {
    /// A name, and the holder or waiter at the cursor.
    Name { name: Name, is_paused: bool, kind: Option<Kind>, row: Option<TicketRow> },
    /// A queue, and the item at the cursor.
    Queue { name: Name, is_paused: bool, row: Option<QueueTarget> },
}

/// A holder or a waiter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TicketRow {
    pub(super) ticket: Ticket,
    /// The ticket as the screen shows it.
    pub(super) shown: String,
}

/// An item, and all items in its state that match the search.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct QueueTarget {
    pub(super) id: ItemId,
    pub(super) state: ItemState,
    pub(super) all: ManyItems,
}

/// The open question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Prompt {
    name: Name,
    step: PromptStep,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum PromptStep {
    /// A key for each action.
    Choose(Vec<PromptChoice>),
    /// A number or a reason.
    Type { of: PromptField, text: String, complaint: &'static str },
    /// The user answers with `y`, or types the name itself.
    Confirm { deed: TopDeed, typed: String },
}

type PromptChoice = (char, String, Then);

/// The result of a choice.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Then {
    Type(PromptField),
    Confirm(TopDeed),
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum PromptField {
    Limit,
    QueueLimit,
    Reason,
    QueueReason,
    /// A number of permits to reserve, a length and a reason.
    Reservation,
}

/// The result of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum PromptOutcome {
    /// The question goes on.
    Open,
    /// The user has left, and nothing is done.
    Left,
    Do(Name, TopDeed),
}

impl Prompt {
    pub(super) fn new(target: CursorTarget) -> Self {
        let (name, choices) = match target {
            CursorTarget::Name { name, is_paused, kind, row } => {
                (name, choices::of_name(is_paused, kind, row))
            }
            CursorTarget::Queue { name, is_paused, row } => {
                (name, choices::of_queue(is_paused, row))
            }
        };
        Self { name, step: PromptStep::Choose(choices) }
    }

    /// Returns the line as it is now.
    pub(super) fn line(&self) -> String {
        let name = &self.name;
        match &self.step {
            PromptStep::Choose(choices) => {
                let words = choices.iter().map(|(key, words, _)| format!("{key}: {words}"));
                format!("{name}: {} · esc: leave", words.collect::<Vec<_>>().join(" · "))
            }
            PromptStep::Type { of, text, complaint } => {
                let asked = match of {
                    PromptField::Limit => "new limit (0 admits nobody)",
                    PromptField::QueueLimit => "how many in work at once, or none",
                    PromptField::Reason | PromptField::QueueReason => "reason, shown to people",
                    PromptField::Reservation => {
                        "how many, for how long, and why (2 1h driver update)"
                    }
                };
                format!("{name}: {asked}: {text}_{complaint}")
            }
            PromptStep::Confirm { deed, typed } if deed.is_typed() => {
                format!("{} · type {name} to confirm: {typed}_", deed.question(name))
            }
            PromptStep::Confirm { deed, .. } => {
                format!("{} · y: yes · any other key: no", deed.question(name))
            }
        }
    }

    /// Returns whether the prompt asks for confirmation.
    pub(super) fn asks_whether(&self) -> bool {
        matches!(self.step, PromptStep::Confirm { .. })
    }

    pub(super) fn press(&mut self, key: Key) -> PromptOutcome {
        if key == Key::Escape {
            return PromptOutcome::Left;
        }
        match &mut self.step {
            PromptStep::Choose(choices) => {
                let wanted = choices.iter().find(|(letter, ..)| key == Key::Char(*letter));
                let next = wanted.map(|(_, _, then)| PromptStep::after(then));
                self.go_on(next)
            }
            PromptStep::Type { of, text, complaint } => {
                let next = type_in(of, text, complaint, key);
                self.go_on(next)
            }
            PromptStep::Confirm { deed, typed } if deed.is_typed() && key != Key::Enter => {
                edit_up_to(MOST_NAME, typed, key);
                PromptOutcome::Open
            }
            PromptStep::Confirm { deed, typed } => {
                let is_sure = match deed.is_typed() {
                    true => *typed == self.name.as_str(),
                    false => key == Key::Char('y'),
                };
                if is_sure {
                    PromptOutcome::Do(self.name.clone(), deed.clone())
                } else {
                    PromptOutcome::Left
                }
            }
        }
    }

    /// Keeps the question open, at the next step if there is one.
    fn go_on(&mut self, next: Option<PromptStep>) -> PromptOutcome {
        if let Some(next) = next {
            self.step = next;
        }
        PromptOutcome::Open
    }
}

impl PromptStep {
    fn after(choice: &Then) -> Self {
        match choice.clone() {
            Then::Type(of) => Self::Type { of, text: String::new(), complaint: "" },
            Then::Confirm(deed) => Self::confirm(deed),
        }
    }

    fn confirm(deed: TopDeed) -> Self {
        Self::Confirm { deed, typed: String::new() }
    }
}

/// Applies a key to the typed text. The key that ends the text leads to the next step, unless the
/// text cannot be read.
fn type_in(
    of: &PromptField,
    text: &mut String,
    complaint: &mut &'static str,
    key: Key,
) -> Option<PromptStep> {
    if key != Key::Enter {
        edit(text, key);
        return None;
    }
    let deed = of.deed(text);
    if deed.is_none() {
        *complaint = of.complaint();
    }
    deed.map(PromptStep::confirm)
}

/// Returns the word for a state in a sentence.
pub(super) fn in_words(state: ItemState) -> String {
    state.to_string().replace('-', " ")
}

/// Applies a key to a line of text.
pub(super) fn edit(text: &mut String, key: Key) {
    edit_up_to(MOST_REASON, text, key);
}

fn edit_up_to(most: usize, text: &mut String, key: Key) {
    match key {
        Key::Char(c) if text.chars().count() < most => text.push(c),
        Key::Backspace => drop(text.pop()),
        _ => {}
    }
}

impl PromptField {
    fn complaint(&self) -> &'static str {
        match self {
            Self::Reservation => "  (a number, 100ms to 1d, and a reason)",
            _ => "  (type a number)",
        }
    }

    fn deed(&self, text: &str) -> Option<TopDeed> {
        let number = || text.trim().parse().ok().filter(|number| *number <= MAX_LIMIT);
        Some(match self {
            Self::Limit => TopDeed::Limit(number()?),
            Self::QueueLimit if text.trim() == "none" => TopDeed::QueueLimit(None),
            Self::QueueLimit => TopDeed::QueueLimit(Some(number()?)),
            Self::Reason => TopDeed::Pause(text.to_owned()),
            Self::QueueReason => TopDeed::QueuePause(text.to_owned()),
            Self::Reservation => reservation(text)?,
        })
    }
}

fn reservation(text: &str) -> Option<TopDeed> {
    let mut words = text.trim().splitn(3, ' ');
    let permits = words.next()?.parse().ok().filter(|permits| (1..=MAX_LIMIT).contains(permits))?;
    let length = parse_duration(words.next()?).ok();
    let length = length.filter(|length| (MIN_TTL..=MAX_TTL).contains(length))?;
    let reason = Some(words.next()?.trim().to_owned()).filter(|reason| !reason.is_empty())?;
    Some(TopDeed::Reserve { permits, length, reason })
}

#[cfg(test)]
mod tests;
