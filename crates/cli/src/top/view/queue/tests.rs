use std::time::Duration;

use seinpaal::{ItemState, Name, Seinpaal};

use super::super::{
    super::{
        keys::Key,
        state::{KeyRequest, TopState},
        watch::{ListTab, OpenQueue, StoreAnswer, StoreQuestion},
    },
    Size, ViewLine, lines,
    tests::{WIDE, state, texts},
};
use crate::output::text::width;

async fn opened(seinpaal: &Seinpaal, name: &str) -> StoreAnswer {
    found(seinpaal, name, "").await
}

/// Returns the answer of the watch for an open queue and this search text.
async fn found(seinpaal: &Seinpaal, name: &str, text: &str) -> StoreAnswer {
    let open = Some(Name::new(name).unwrap());
    let look = StoreQuestion { tab: ListTab::Queues, open, matching: text.to_owned() };
    let open = OpenQueue::read(seinpaal, &look, name).await.unwrap();
    let queues = seinpaal.queues("").await.unwrap();
    StoreAnswer::Queues { queues, open: Some(Box::new(open)) }
}

#[tokio::test]
async fn an_open_queue_lists_every_state_and_the_cursor_stays_in_its_place() {
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    mails.push("dead").deliveries(1).await.unwrap();
    mails.pop().await.unwrap().fail("no route", Duration::ZERO).await.unwrap();
    for n in 0..40 {
        mails.push(format!("to: {n}")).await.unwrap();
    }
    mails.push("tomorrow").delay(Duration::from_secs(86_400)).label("job", "42").await.unwrap();
    let held = mails.pop().await.unwrap();
    let mut state = state(opened(&seinpaal, "mails").await);
    state.press(Key::Tab);
    state.press(Key::Enter);
    state.take(opened(&seinpaal, "mails").await);
    let drawn = texts(&mut state, WIDE).join("\n");
    for words in ["IN WORK", "to: 1", "job=42  tomorrow", "no route"] {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
    for (columns, rows) in [(80, 24), (40, 12), (20, 5), (1, 1)] {
        let drawn = texts(&mut state, Size { columns, rows });
        assert!(drawn.len() == rows && drawn.iter().all(|line| width(line) <= columns));
    }
    // Three steps down lead from the item in work to the third ready item.
    (0..3).for_each(|_| drop(state.press(Key::Down)));
    let chosen = |state: &mut TopState| {
        let lines = lines(state, WIDE);
        let chosen = lines.iter().find(|line| matches!(line, ViewLine::Chosen(_)));
        chosen.map(|line| line.text().trim_end().to_owned()).unwrap_or_default()
    };
    assert!(chosen(&mut state).ends_with("to: 3"), "{}", chosen(&mut state));
    let third = mails.items(ItemState::Ready, None, 3).await.unwrap().items.remove(2);
    mails.cancel(third.id).await.unwrap();
    state.take(opened(&seinpaal, "mails").await);
    assert!(chosen(&mut state).ends_with("to: 4"), "not the item in work: {}", chosen(&mut state));
    held.acknowledge().await.unwrap();
}

fn typed(state: &mut TopState, text: &str) -> KeyRequest {
    text.chars().map(|c| state.press(Key::Char(c))).last().unwrap_or(KeyRequest::Nothing)
}

#[tokio::test]
async fn where_nothing_is_in_work_there_is_still_a_row_of_each_state() {
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    for n in 0..40 {
        mails.push(format!("to: {n}")).await.unwrap();
    }
    mails.push("tomorrow").delay(Duration::from_secs(86_400)).await.unwrap();
    let mut state = state(opened(&seinpaal, "mails").await);
    state.press(Key::Tab);
    state.press(Key::Enter);
    state.take(opened(&seinpaal, "mails").await);
    let drawn = texts(&mut state, WIDE).join("\n");
    assert!(drawn.contains("nothing is in work") && drawn.contains("tomorrow"), "{drawn}");
}

#[tokio::test]
async fn a_search_in_an_open_queue_lists_what_matches_and_acts_on_all_of_it() {
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    for n in 0..300 {
        let job = if n % 2 == 0 { "42" } else { "43" };
        mails.push(format!("to: {n}")).label("job", job).await.unwrap();
    }
    let _held = mails.pop().await.unwrap();
    let mut state = state(opened(&seinpaal, "mails").await);
    state.press(Key::Tab);
    state.press(Key::Enter);
    state.take(opened(&seinpaal, "mails").await);
    state.press(Key::Char('/'));
    typed(&mut state, "job=42");
    assert_eq!(state.press(Key::Enter), KeyRequest::Look);
    assert_eq!(state.look.matching, "job=42");
    // An answer that was under way is still about all items.
    state.take(opened(&seinpaal, "mails").await);
    let drawn = texts(&mut state, WIDE).join("\n");
    assert!(drawn.contains("looking for \"job=42\"") && !drawn.contains("to: 1"), "{drawn}");
    state.take(found(&seinpaal, "mails", "job=42").await);
    let drawn = texts(&mut state, WIDE).join("\n");
    assert!(drawn.contains("\"job=42\" matches 149 ready, 1 in work"), "{drawn}");
    assert!(!drawn.contains("job=43"), "{drawn}");
    mails.push("late").label("job", "42").await.unwrap();
    // One step leads from the item in work to the first ready item.
    state.press(Key::Down);
    typed(&mut state, "aC");
    let KeyRequest::Do(name, deed) = ({
        typed(&mut state, "mails");
        state.press(Key::Enter)
    }) else {
        panic!("{}", texts(&mut state, WIDE).join("\n"))
    };
    assert_eq!(deed.done(&seinpaal, &name).await, "mails: cancelled 149");
    let left = mails.snapshot().await.unwrap();
    assert_eq!((left.ready, left.in_work), (151, 1), "later items are spared");
    assert_eq!(state.press(Key::Escape), KeyRequest::Look);
    assert_eq!((state.look.matching.as_str(), state.look.open.is_some()), ("", true));
    state.take(opened(&seinpaal, "mails").await);
    assert!(texts(&mut state, WIDE).join("\n").contains("job=43"));
}

#[tokio::test]
async fn a_search_that_finds_nothing_says_so_and_asks_nobody() {
    let seinpaal = Seinpaal::in_memory();
    seinpaal.queue("mails").push("to: ann").await.unwrap();
    let mut state = state(opened(&seinpaal, "mails").await);
    state.press(Key::Tab);
    state.press(Key::Enter);
    state.press(Key::Char('/'));
    typed(&mut state, "bob");
    state.press(Key::Enter);
    state.take(found(&seinpaal, "mails", "bob").await);
    let drawn = texts(&mut state, WIDE).join("\n");
    assert!(drawn.contains("no item matches \"bob\""), "{drawn}");
    state.press(Key::Char('a'));
    let drawn = texts(&mut state, WIDE).join("\n");
    assert!(drawn.contains("purge") && !drawn.contains("cancel"), "{drawn}");
    for (columns, rows) in [(80, 24), (40, 12), (20, 5), (1, 1)] {
        let drawn = texts(&mut state, Size { columns, rows });
        assert!(drawn.len() == rows && drawn.iter().all(|line| width(line) <= columns));
    }
}

#[tokio::test]
async fn queues_are_sorted_by_what_was_chosen() {
    let seinpaal = Seinpaal::in_memory();
    for (name, items) in [("a", 1), ("b", 3), ("c", 2)] {
        for _ in 0..items {
            seinpaal.queue(name).push("x").await.unwrap();
        }
    }
    let mut state = state(opened(&seinpaal, "a").await);
    state.press(Key::Tab);
    state.take(opened(&seinpaal, "a").await);
    let order = |state: &TopState| {
        state.queues.iter().map(|queue| queue.name.to_string()).collect::<Vec<_>>().concat()
    };
    assert_eq!(order(&state), "abc");
    state.press(Key::Char('s'));
    assert_eq!(order(&state), "bca");
    assert!(texts(&mut state, WIDE)[0].contains("by ready"));
    state.take(opened(&seinpaal, "a").await);
    assert_eq!(order(&state), "bca", "also after the next answer");
}
