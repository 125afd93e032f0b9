use std::time::Duration;

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
fn keys_other_than_y_change_nothing() {
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

#[test]
fn permits_are_reserved_with_a_length_and_a_reason() {
    for wrong in ["v\n", "v2\n", "v2 1h\n", "v0 1h why\n", "v2 2d why\n", "v2 soon why\n"] {
        let mut prompt = prompt();
        assert_eq!(typed(&mut prompt, wrong), Outcome::Open);
        assert!(prompt.line().contains("and a reason"), "{wrong}: {}", prompt.line());
    }
    let (length, reason) = (Duration::from_secs(5400), "driver update".to_owned());
    let deed = Deed::Reserve { permits: 2, length, reason };
    let name = Name::new("a").unwrap();
    assert_eq!(typed(&mut prompt(), "v2 1.5h driver update\ny"), Outcome::Do(name, deed));
}

#[test]
fn all_in_work_are_cancelled_only_if_the_name_is_typed() {
    let row = Some(QueueRow::InWork(ItemId(7)));
    let name = Name::new("a").unwrap();
    let of_queue = || Prompt::new(Target::Queue { name: name.clone(), is_paused: false, row });
    assert_eq!(typed(&mut of_queue(), "Cy\n"), Outcome::Left);
    assert_eq!(typed(&mut of_queue(), "Ca\n"), Outcome::Do(name.clone(), Deed::CancelAll));
}
