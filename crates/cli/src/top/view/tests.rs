use std::time::Duration;

use seinpaal::{Name, Seinpaal};

use super::{
    super::{keys::Key, state::KeyRequest, watch::StoreAnswer},
    *,
};
use crate::args::SortBy;

pub(super) const WIDE: Size = Size { columns: 80, rows: 24 };

/// Makes names, each with this many held permits, in a store of the test's own, and returns the
/// answer of the watch.
async fn seen(names: &[(&str, u32)], open: Option<&str>) -> (Seinpaal, StoreAnswer) {
    let seinpaal = Seinpaal::in_memory();
    for (name, held) in names {
        let semaphore = seinpaal.semaphore(name).limit(100);
        for _ in 0..*held {
            semaphore.acquire().label("job", "構築").await.unwrap().detach().await.unwrap();
        }
    }
    let open = match open {
        Some(name) => Some(Box::new(seinpaal.semaphore(name).snapshot().await.unwrap())),
        None => None,
    };
    let names = seinpaal.list("").await.unwrap();
    (seinpaal, StoreAnswer::Names { names, open })
}

pub(super) fn state(seen: StoreAnswer) -> TopState {
    let mut state = TopState::new("memory:".into(), SortBy::Name, Duration::from_secs(1));
    state.take(seen);
    state
}

pub(super) fn texts(state: &mut TopState, size: Size) -> Vec<String> {
    lines(state, size).iter().map(|line| line.text().to_owned()).collect()
}

#[tokio::test]
async fn every_line_fits_whatever_names_there_are_and_however_small_the_screen_is() {
    let long = "構築".repeat(80);
    let names = [("a", 1), (long.as_str(), 2), ("e\u{301}", 0), ("b\u{202e}c", 3)];
    let (_seinpaal, seen) = seen(&names, None).await;
    let mut state = state(seen);
    for (columns, rows) in [(80, 24), (40, 10), (20, 5), (1, 1), (200, 60)] {
        let size = Size { columns, rows };
        let drawn = texts(&mut state, size);
        assert_eq!(drawn.len(), rows, "{size:?}");
        assert!(drawn.iter().all(|line| width(line) <= columns), "{size:?}: {drawn:?}");
    }
    let drawn = texts(&mut state, WIDE);
    let row = drawn.iter().find(|line| line.contains("構築")).unwrap();
    assert!(row.ends_with("open") && row.contains('\u{2026}'), "{row}");
}

#[tokio::test]
async fn columns_stand_below_each_other_after_wide_names() {
    let (_seinpaal, seen) = seen(&[("構築中です", 1), ("plain", 2)], None).await;
    let drawn = texts(&mut state(seen), WIDE);
    let at = |words: &str| {
        let line = drawn.iter().find(|line| line.contains(words)).unwrap();
        width(&line[..line.find(words).unwrap()])
    };
    assert_eq!(at("1/100"), at("2/100"), "{drawn:#?}");
    assert_eq!(at("HELD") + 4, at("1/100") + 5, "aligned to the right: {drawn:#?}");
}

#[tokio::test]
async fn the_cursor_stays_with_its_name_when_others_come_and_go() {
    let (_one, before) = seen(&[("a", 1), ("b", 1), ("c", 1)], None).await;
    let mut state = state(before);
    state.press(Key::Down);
    let chosen = |state: &mut TopState| {
        let lines = lines(state, WIDE);
        let chosen: Vec<_> =
            lines.iter().filter(|line| matches!(line, ViewLine::Chosen(_))).collect();
        assert_eq!(chosen.len(), 1);
        chosen[0].text()[..2].to_owned()
    };
    assert_eq!(chosen(&mut state), ">b");
    let (_other, after) = seen(&[("0", 1), ("a", 1), ("aa", 1), ("b", 1)], None).await;
    state.take(after);
    assert_eq!(chosen(&mut state), ">b");
    let (_none, without) = seen(&[("a", 1), ("c", 1)], None).await;
    state.take(without);
    assert_eq!(chosen(&mut state), ">a", "its name is gone");
}

#[tokio::test]
async fn a_list_longer_than_the_screen_follows_the_cursor() {
    let names: Vec<String> = (0..50).map(|n| format!("name-{n:02}")).collect();
    let held: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let (_seinpaal, seen) = seen(&held, None).await;
    let mut state = state(seen);
    for at in 0..50 {
        let drawn = lines(&mut state, Size { columns: 80, rows: 10 });
        let chosen = drawn.iter().find(|line| matches!(line, ViewLine::Chosen(_))).unwrap();
        assert!(chosen.text().contains(&format!("name-{at:02}")), "{at}: {drawn:?}");
        state.press(Key::Down);
    }
    state.press(Key::First);
    assert_eq!(state.cursor(), 0);
    state.press(Key::Last);
    assert_eq!(state.cursor(), 49);
}

#[tokio::test]
async fn names_are_sorted_by_what_was_chosen() {
    let (_seinpaal, seen) = seen(&[("a", 1), ("b", 3), ("c", 2)], None).await;
    let mut state = state(seen);
    let order = |state: &TopState| {
        state.names.iter().map(|name| name.name.to_string()).collect::<Vec<_>>().concat()
    };
    assert_eq!(order(&state), "abc");
    state.press(Key::Char('s'));
    assert_eq!((state.sort, order(&state)), (SortBy::Held, "bca".to_owned()));
    assert!(texts(&mut state, WIDE)[0].contains("by held"));
}

#[tokio::test]
async fn an_open_name_shows_who_holds_and_why_the_waiter_at_the_cursor_waits() {
    let (seinpaal, _) = seen(&[("a", 1)], None).await;
    let semaphore = seinpaal.semaphore("a");
    semaphore.set_limit(2).await.unwrap();
    semaphore.acquire().await.unwrap().release().await.unwrap();
    semaphore.set_limit(1).await.unwrap();
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let semaphore = semaphore.clone();
            tokio::spawn(async move { semaphore.acquire().await.map(drop) })
        })
        .collect();
    let open = loop {
        let open = semaphore.snapshot().await.unwrap();
        if open.waiters.len() == 2 {
            break open;
        }
        tokio::task::yield_now().await;
    };
    let names = seinpaal.list("").await.unwrap();
    let mut state = state(StoreAnswer::Names { names: names.clone(), open: None });
    assert_eq!(state.press(Key::Enter), KeyRequest::Look);
    assert_eq!(state.look.open, Some(Name::new("a").unwrap()));
    state.take(StoreAnswer::Names { names, open: Some(Box::new(open)) });
    let drawn = texts(&mut state, WIDE).join("\n");
    assert!(drawn.contains("1 of 1 held") && drawn.contains("1st of 2 in line"), "{drawn}");
    assert!(drawn.contains("job=構築"), "{drawn}");
    state.press(Key::Down);
    let drawn = texts(&mut state, WIDE).join("\n");
    assert!(drawn.contains("1 is ahead") && drawn.contains("estimate: about"), "{drawn}");
    for (columns, rows) in [(80, 24), (30, 12), (5, 3)] {
        let drawn = texts(&mut state, Size { columns, rows });
        assert!(
            drawn.len() == rows && drawn.iter().all(|line| width(line) <= columns),
            "{drawn:?}"
        );
    }
    state.press(Key::Escape);
    assert!(texts(&mut state, WIDE).join("\n").contains("NAME"));
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_store_that_fails_is_told_of_and_the_rows_stay() {
    let (_seinpaal, before) = seen(&[("a", 1)], None).await;
    let mut state = state(before);
    assert_eq!(texts(&mut state, WIDE)[1], "");
    state.take(StoreAnswer::Nothing("memory:: connection refused".into()));
    let drawn = texts(&mut state, WIDE);
    assert!(drawn[1].starts_with("store unreachable for "), "{drawn:#?}");
    assert!(
        drawn[1].ends_with("trying: connection refused") && drawn[3].contains("1/100"),
        "{drawn:#?}"
    );
    let (_again, after) = seen(&[("a", 1)], None).await;
    state.take(after);
    assert_eq!(texts(&mut state, WIDE)[1], "");
}

#[test]
fn the_help_fits_a_terminal_of_80_columns() {
    let wide: Vec<_> = help::lines().into_iter().filter(|it| width(it.text()) > 80).collect();
    assert!(wide.is_empty() && help::lines().len() <= 21, "{wide:?}");
}

#[tokio::test]
async fn an_answer_about_names_that_comes_after_tab_says_nothing_about_the_queue_of_that_name() {
    let (_seinpaal, names) = seen(&[("a", 1)], None).await;
    let (seinpaal, late) = seen(&[("a", 1)], Some("a")).await;
    seinpaal.queue("a").push("x").await.unwrap();
    let mut state = state(names);
    assert_eq!(state.press(Key::Tab), KeyRequest::Look);
    let queues = seinpaal.queues("").await.unwrap();
    state.take(StoreAnswer::Queues { queues, open: None });
    assert_eq!(state.press(Key::Enter), KeyRequest::Look);
    state.take(late);
    assert!(state.seen.is_none(), "{:?}", state.seen);
}

#[tokio::test]
async fn after_tab_an_answer_about_names_does_not_stand_for_one_about_queues() {
    let (_seinpaal, names) = seen(&[("a", 1)], None).await;
    let (_other, late) = seen(&[("a", 1)], None).await;
    let mut state = state(names);
    state.press(Key::Tab);
    state.take(late);
    assert!(!state.has_heard());
}
