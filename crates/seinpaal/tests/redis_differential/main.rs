//! The Redis scripts are compared with the ledger on random histories on a real server, with a clock
//! of the test's own: after each call the answers, the messages, and everything that is stored. A
//! history with a difference is made as short as possible and printed.

mod bench;
#[path = "../support/differential.rs"]
mod differential;
mod history;
mod mutations;

use std::ops::Range;

use bench::{Bench, Way};
use differential::histories;
use history::Shape;
use seinpaal_rig::RedisServer;

async fn compare(bench: &mut Bench, seeds: Range<u64>, shape: Shape) {
    differential::compare(bench, seeds, |seed| history::draw(seed, shape)).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does() {
    compare(&mut Bench::new(Way::Alone).await, 0..4 * histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_clients_do_as_sessions_do() {
    compare(&mut Bench::new(Way::Alone).await, 0..2 * histories(), Shape::CALM).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_in_a_crowd() {
    compare(&mut Bench::new(Way::Alone).await, 0..histories() / 2, Shape::CROWD).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_slots_have_names() {
    compare(&mut Bench::new(Way::Alone).await, 0..histories(), Shape::NAMED).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_under_a_restart_guard() {
    compare(&mut Bench::guarded().await, 0..histories(), Shape::GUARDED).await;
}

/// The script of all requests also executes those for which there is a shorter one.
#[tokio::test]
async fn both_scripts_do_the_same() {
    compare(&mut Bench::new(Way::WithAnInspection).await, 0..histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn several_names_in_one_call_are_as_if_each_had_come_alone() {
    compare(&mut Bench::new(Way::Bundled).await, 0..histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn several_names_are_acquired_together_or_not_at_all() {
    compare(&mut Bench::new(Way::Together).await, 0..histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn a_list_says_of_a_name_what_an_inspection_says() {
    compare(&mut Bench::new(Way::Listed).await, 0..histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_on_a_server_that_sorts_words() {
    let mut bench = Bench::on(RedisServer::of_a_language(), Way::Alone, None, None).await;
    compare(&mut bench, 0..histories(), Shape::MIXED).await;
}

#[tokio::test]
async fn scripts_that_are_given_no_time_go_by_the_servers_in_microseconds() {
    assert_eq!(Bench::new(Way::Alone).await.clocks_differ().await, None);
}
