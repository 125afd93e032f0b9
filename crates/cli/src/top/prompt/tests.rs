use std::time::Duration;

use seinpaal_words::matching::Matching;

use super::*;

fn prompt() -> Prompt {
    let row = TicketRow { ticket: Ticket(7), shown: "7c02e1aa (4711@build7)".into() };
    let name = Name::new("a").unwrap();
    Prompt::new(CursorTarget::Name { name, is_paused: false, kind: None, row: Some(row) })
}

fn typed(prompt: &mut Prompt, keys: &str) -> PromptOutcome {
    let mut outcome = PromptOutcome::Open;
    for c in keys.chars() {
        assert_eq!(outcome, PromptOutcome::Open);
        outcome = prompt.press(if c == '\n' { Key::Enter } else { Key::Char(c) });
    }
    outcome
}

#[test]
fn an_action_is_chosen_typed_and_confirmed_by_y() {
    let name = Name::new("a").unwrap();
    let done = |keys: &str| typed(&mut prompt(), keys);
    assert_eq!(done("l12\ny"), PromptOutcome::Do(name.clone(), TopDeed::Limit(12)));
    let reason = "moving house".to_owned();
    assert_eq!(done("pmoving house\ny"), PromptOutcome::Do(name.clone(), TopDeed::Pause(reason)));
    let evicted = TopDeed::Evict { ticket: Ticket(7), shown: "7c02e1aa (4711@build7)".into() };
    assert_eq!(done("ey"), PromptOutcome::Do(name, evicted));
}

#[test]
fn keys_other_than_y_change_nothing() {
    assert_eq!(typed(&mut prompt(), "en"), PromptOutcome::Left);
    assert_eq!(typed(&mut prompt(), "e\n"), PromptOutcome::Left);
    assert_eq!(prompt().press(Key::Escape), PromptOutcome::Left);
    assert_eq!(typed(&mut prompt(), "z"), PromptOutcome::Open, "a key without a meaning");
}

#[test]
fn what_is_no_number_is_asked_again() {
    let mut prompt = prompt();
    assert_eq!(typed(&mut prompt, "lmany\n"), PromptOutcome::Open);
    assert!(prompt.line().contains("type a number"), "{}", prompt.line());
    for _ in 0..4 {
        prompt.press(Key::Backspace);
    }
    assert!(matches!(typed(&mut prompt, "3\ny"), PromptOutcome::Do(_, TopDeed::Limit(3))));
}

#[test]
fn to_purge_a_queue_its_name_has_to_be_typed() {
    let new = || {
        let name = Name::new("mails").unwrap();
        Prompt::new(CursorTarget::Queue { name, is_paused: false, row: None })
    };
    assert!(matches!(typed(&mut new(), "xmails\n"), PromptOutcome::Do(_, TopDeed::Purge)));
    assert_eq!(typed(&mut new(), "xmail\n"), PromptOutcome::Left);
    assert_eq!(typed(&mut new(), "xy\n"), PromptOutcome::Left);
}

#[test]
fn a_name_of_any_length_can_be_typed() {
    let long = "ü".repeat(256);
    let name = Name::new(&long).unwrap();
    let mut prompt = Prompt::new(CursorTarget::Queue { name, is_paused: false, row: None });
    let done = typed(&mut prompt, &format!("x{long}\n"));
    assert!(matches!(done, PromptOutcome::Do(_, TopDeed::Purge)), "{done:?}");
    let name = Name::new(&"n".repeat(512)).unwrap();
    let mut prompt = Prompt::new(CursorTarget::Queue { name, is_paused: false, row: None });
    let done = typed(&mut prompt, &format!("x{}\n", "n".repeat(512)));
    assert!(matches!(done, PromptOutcome::Do(_, TopDeed::Purge)), "{done:?}");
}

#[test]
fn permits_are_reserved_with_a_length_and_a_reason() {
    for wrong in ["v\n", "v2\n", "v2 1h\n", "v0 1h why\n", "v2 2d why\n", "v2 soon why\n"] {
        let mut prompt = prompt();
        assert_eq!(typed(&mut prompt, wrong), PromptOutcome::Open);
        assert!(prompt.line().contains("and a reason"), "{wrong}: {}", prompt.line());
    }
    let (length, reason) = (Duration::from_secs(5400), "driver update".to_owned());
    let deed = TopDeed::Reserve { permits: 2, length, reason };
    let name = Name::new("a").unwrap();
    assert_eq!(typed(&mut prompt(), "v2 1.5h driver update\ny"), PromptOutcome::Do(name, deed));
}

#[test]
fn all_in_work_are_cancelled_only_if_the_name_is_typed() {
    let all = ManyItems { items: 3, matching: Matching::default() };
    let mut prompt = of_queue(ItemState::InWork, &all);
    assert_eq!(typed(&mut prompt, "Cy\n"), PromptOutcome::Left);
    let mut prompt = of_queue(ItemState::InWork, &all);
    let deed = TopDeed::CancelAll(ItemState::InWork, all);
    assert_eq!(typed(&mut prompt, "Ca\n"), PromptOutcome::Do(Name::new("a").unwrap(), deed));
}

fn of_queue(state: ItemState, all: &ManyItems) -> Prompt {
    let row = Some(QueueTarget { id: ItemId(7), state, all: all.clone() });
    Prompt::new(CursorTarget::Queue { name: Name::new("a").unwrap(), is_paused: false, row })
}

#[test]
fn after_a_search_the_question_says_how_many_match_and_that_later_ones_are_spared() {
    let matching = Matching { text: "job=42".into(), with_payloads: true, counted: None };
    let all = ManyItems { items: 137, matching };
    for (state, keys, command) in [
        (ItemState::Ready, "C", "queue cancel a all --state ready --matching \"job=42\"?"),
        (ItemState::Delayed, "C", "queue cancel a all --state delayed --matching \"job=42\"?"),
        (ItemState::Dead, "T", "queue dead a --replay all --matching \"job=42\"?"),
        (ItemState::Dead, "D", "queue dead a --drop all --matching \"job=42\"?"),
    ] {
        let mut prompt = of_queue(state, &all);
        let words = match state {
            ItemState::Dead => "all 137 that match".to_owned(),
            state => format!("cancel all 137 {state} that match"),
        };
        assert!(prompt.line().contains(&words), "{}", prompt.line());
        assert_eq!(typed(&mut prompt, keys), PromptOutcome::Open);
        let asked = prompt.line();
        let words = "The 137 items found, and none that comes later";
        assert!(asked.contains(command) && asked.contains(words), "{asked}");
    }
}
