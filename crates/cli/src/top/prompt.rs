//! The line at the bottom where something is chosen, typed and confirmed, key by key.

use seinpaal::{ItemId, MAX_LIMIT, Name, Ticket};

use super::{deed::Deed, keys::Key};

/// The longest reason, in characters.
const MOST_REASON: usize = 200;

/// What the cursor is on.
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

/// What a choice leads to.
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

/// What a key does to a line of text.
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
        })
    }
}

fn of_name(is_paused: bool, row: Option<TicketRow>) -> Vec<Choice> {
    let mut choices = vec![
        ('l', "limit".to_owned(), Then::Ask(Field::Limit)),
        ('u', "unset the limit".to_owned(), Then::Confirm(Deed::Unset)),
        match is_paused {
            true => ('r', "resume".to_owned(), Then::Confirm(Deed::Resume)),
            false => ('p', "pause".to_owned(), Then::Ask(Field::Reason)),
        },
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
mod tests {
    use super::*;

    fn prompt_of(holds: bool) -> Prompt {
        let row = TicketRow { ticket: Ticket(7), shown: "7c02e1aa (4711@build7)".into(), holds };
        let name = Name::new("a").unwrap();
        Prompt::new(Target::Name { name, is_paused: false, row: Some(row) })
    }

    fn prompt() -> Prompt {
        prompt_of(true)
    }

    fn typed(prompt: &mut Prompt, keys: &str) -> Outcome {
        let mut outcome = Outcome::Open;
        for c in keys.chars() {
            assert_eq!(outcome, Outcome::Open);
            outcome = prompt.press(if c == '\n' { Key::Enter } else { Key::Char(c) });
        }
        outcome
    }

    #[test]
    fn an_action_is_chosen_typed_and_confirmed_by_y() {
        let name = Name::new("a").unwrap();
        let done = |keys: &str| typed(&mut prompt(), keys);
        assert_eq!(done("l12\ny"), Outcome::Do(name.clone(), Deed::Limit(12)));
        let reason = "moving house".to_owned();
        assert_eq!(done("pmoving house\ny"), Outcome::Do(name.clone(), Deed::Pause(reason)));
        let evicted = Deed::Evict { ticket: Ticket(7), shown: "7c02e1aa (4711@build7)".into() };
        assert_eq!(done("ey"), Outcome::Do(name, evicted));
    }

    #[test]
    fn any_other_key_than_y_and_escape_leave_everything_as_it_is() {
        assert_eq!(typed(&mut prompt(), "en"), Outcome::Left);
        assert_eq!(typed(&mut prompt(), "e\n"), Outcome::Left);
        assert_eq!(prompt().press(Key::Escape), Outcome::Left);
        assert_eq!(typed(&mut prompt(), "z"), Outcome::Open, "a key without a meaning");
    }

    #[test]
    fn what_is_no_number_is_asked_again() {
        let mut prompt = prompt();
        assert_eq!(typed(&mut prompt, "lmany\n"), Outcome::Open);
        assert!(prompt.line().contains("type a number"), "{}", prompt.line());
        for _ in 0..4 {
            prompt.press(Key::Backspace);
        }
        assert!(matches!(typed(&mut prompt, "3\ny"), Outcome::Do(_, Deed::Limit(3))));
    }

    #[test]
    fn a_holder_is_asked_with_a_reason_and_a_waiter_cannot_be_asked() {
        let mut asks = prompt();
        assert_eq!(typed(&mut asks, "a \n"), Outcome::Open);
        assert!(asks.line().contains("type a reason"), "{}", asks.line());
        let (ticket, shown) = (Ticket(7), "7c02e1aa (4711@build7)".to_owned());
        let asked = Deed::Ask { ticket, shown, reason: "a release".into() };
        let name = Name::new("a").unwrap();
        assert_eq!(typed(&mut asks, "a release\ny"), Outcome::Do(name, asked));
        assert_eq!(typed(&mut prompt(), "aa release\nn"), Outcome::Left);
        let mut waiter = prompt_of(false);
        assert!(!waiter.line().contains("hand over"), "{}", waiter.line());
        let before = waiter.clone();
        assert_eq!((waiter.press(Key::Char('a')), waiter), (Outcome::Open, before));
    }

    #[test]
    fn to_purge_a_queue_its_name_has_to_be_typed() {
        let new = || {
            let name = Name::new("mails").unwrap();
            Prompt::new(Target::Queue { name, is_paused: false, row: None })
        };
        assert!(matches!(typed(&mut new(), "xmails\n"), Outcome::Do(_, Deed::Purge)));
        assert_eq!(typed(&mut new(), "xmail\n"), Outcome::Left);
        assert_eq!(typed(&mut new(), "xy\n"), Outcome::Left);
    }
}
