//! The Redis script of queues is compared with the ledger on random histories on a real server, with
//! a clock of the test's own: after each call the answers, the messages, and everything that is
//! stored. A history with a difference is made as short as possible and printed.

mod bench;
#[path = "../support/differential.rs"]
mod differential;
mod history;
mod mutations;

use std::ops::Range;

use bench::Bench;
use differential::{Comparison, histories};
use history::{Event, Shape};
use seinpaal_proto::{
    Inbox, Priority,
    queue::{Batch, Due, ItemPosition, ItemState, Pop, Push, Request},
    time::SECOND,
};
use seinpaal_rig::RedisServer;

async fn compare(bench: &mut Bench, seeds: Range<u64>, shape: Shape) {
    differential::compare(bench, seeds, |seed| history::draw(seed, shape)).await;
}

#[tokio::test]
async fn the_script_does_what_the_ledger_does() {
    compare(&mut Bench::new().await, 0..2 * histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn the_script_does_what_the_ledger_does_of_what_goes_on_all_the_time() {
    compare(&mut Bench::new().await, 0..2 * histories(), Shape::CALM).await;
}

#[tokio::test]
async fn the_script_stops_where_the_ledger_does_when_there_is_too_much_to_do() {
    compare(&mut Bench::new().await, 0..histories(), Shape::LARGE).await;
}

#[tokio::test]
async fn the_script_does_what_the_ledger_does_with_many_groups() {
    compare(&mut Bench::new().await, 0..histories(), Shape::GROUPED).await;
}

#[tokio::test]
async fn the_script_does_what_the_ledger_does_with_many_workers() {
    compare(&mut Bench::new().await, 0..histories(), Shape::CROWD).await;
}

#[tokio::test]
async fn the_script_does_what_the_ledger_does_on_a_server_that_sorts_words() {
    let mut bench = Bench::on(RedisServer::of_a_language(), None).await;
    compare(&mut bench, 0..histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn a_pop_and_a_page_have_no_more_payload_than_an_answer_may() {
    let push = |seed| Push {
        payload: vec![seed; 300_000],
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 1,
        about: String::new(),
    };
    let (ttl, margin, about) = (SECOND, SECOND / 4, String::new());
    let pop = Pop { items: 64, ttl, margin, wait: false, drains: false, about };
    let after = ItemPosition::before(ItemState::Ready);
    let mut requests: Vec<_> = (0..6).map(|seed| Request::Push(push(seed))).collect();
    requests.extend([Request::List { after, rows: 9 }, Request::Pop(pop)]);
    let call = |(number, request)| {
        let (name, session, requests) = (history::name(), Inbox(5), vec![request]);
        let now = history::START + number;
        let batch = Batch { name, session, number, not_after: now, seen: 0, requests };
        Event::Call { now, batch }
    };
    let history: Vec<_> = (1..).zip(requests).map(call).collect();
    assert_eq!(Bench::new().await.difference(&history).await, None);
}
