use std::time::Duration;

use seinpaal_proto::{
    Name,
    queue::{Batch, ItemId, ItemPosition, ItemRow, ItemState, Pop, Push, Reply, Request, RowState},
};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{
            AT_ONCE, MINUTE, SECOND, allowed, delayed, fail, finish, group_limit, item, of_group,
            pop, ranked,
        },
    },
    requests::TTL_MICROS,
};

fn texts(pages: &[Vec<ItemRow>]) -> Vec<String> {
    let text = |row: &ItemRow| String::from_utf8(row.payload.clone()).expect("a text");
    pages.iter().flatten().map(text).collect()
}

fn ids(rows: &[ItemRow]) -> Vec<ItemId> {
    rows.iter().map(|row| row.id).collect()
}

pub async fn ready_items_are_listed_once_those_of_groups_before_the_others(stage: &CaseStage) {
    let client = stage.queue_client().await;
    for (group, text) in [("b", "b1"), ("{a}", "a1"), ("b", "b2"), ("{a}", "a2"), ("号", "c1")] {
        client.push(of_group(group, text)).await;
    }
    client.push_all(&["1", "2"]).await;
    client.push(ranked("first", 1)).await;
    client.one(group_limit(1)).await;
    assert_eq!(client.texts(2).await, ["first", "b1"]);
    let listed = ["b2", "a1", "a2", "c1", "1", "2"];
    for rows in [1, 2, 5, 100] {
        let pages = client.list(ItemState::Ready, rows).await;
        assert_eq!(texts(&pages), listed, "{rows} rows a page");
    }
}

pub async fn delayed_items_are_listed_as_they_fall_due(stage: &CaseStage) {
    let client = stage.queue_client().await;
    for (text, seconds) in [("last", 9), ("first", 3), ("second", 5)] {
        client.push(delayed(text, seconds * SECOND)).await;
    }
    client.push(item("ready")).await;
    let pages = client.list(ItemState::Delayed, 2).await;
    assert_eq!(texts(&pages), ["first", "second", "last"]);
    assert_eq!(pages[0][0].state, RowState::Delayed { due: stage.now() + 3_000_000 });
    stage.advance(3 * SECOND);
    assert_eq!(texts(&client.list(ItemState::Delayed, 9).await), ["second", "last"]);
    assert_eq!(texts(&client.list(ItemState::Ready, 9).await), ["ready", "first"]);
}

pub async fn items_in_work_are_listed_with_their_workers(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(of_group("{g} 号", "a")).await;
    client.push_all(&["b", "c", "d"]).await;
    let about = "host {号}".to_owned();
    let held = client.pop_as(Pop { about: about.clone(), ..pop(3) }).await;
    stage.advance(SECOND);
    let pages = client.list(ItemState::InWork, 2).await;
    let listed = pages.concat();
    let known: Vec<_> = held.iter().map(|popped| popped.delivery.id).collect();
    assert_eq!(ids(&listed), known);
    assert_eq!((listed[0].group.as_deref(), listed[0].attempt), (Some("{g} 号"), 1));
    let RowState::InWork { fence, by, about: worker, worked, valid_for } = &listed[0].state else {
        panic!("not in work: {:?}", listed[0]);
    };
    assert_eq!((*fence, *by), (held[0].delivery.fence, client.inbox()));
    assert_eq!((worker, *worked), (&about, 1_000_000));
    assert_eq!(valid_for.unwrap_or(TTL_MICROS - 1_000_000), TTL_MICROS - 1_000_000);
}

pub async fn dead_letters_are_listed_page_by_page(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.send(vec![Request::Push(allowed("x", 1)); 7]).await;
    let held = client.pop(7).await;
    let end = |it: &seinpaal_proto::queue::Popped| finish(it.delivery, fail("no", AT_ONCE));
    client.send(held.iter().rev().map(end).collect()).await;
    let pages = client.list(ItemState::Dead, 3).await;
    let known: Vec<_> = held.iter().map(|popped| popped.delivery.id).collect();
    assert_eq!(ids(&pages.concat()), known);
    assert!(pages.iter().all(|page| page.len() <= 3));
    let (rest, next) = client.page(ItemPosition::Dead(known[4]), 9).await;
    assert_eq!((ids(&rest), next), (known[5..].to_vec(), None));
}

pub async fn a_listed_item_shows_what_it_was_and_how_its_payload_begins(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let payload: Vec<_> = (0..300).map(|at| at as u8).collect();
    let (group, about) = (Some(Name::new("{g}").unwrap()), "by hand {号}".to_owned());
    let push = Push { payload: payload.clone(), group, about, ..ranked("", -3) };
    let (pushed, id) = (stage.now(), client.push(Push { most: 5, ..push }).await);
    let held = client.take().await;
    client.finish(held.delivery, fail("no route", AT_ONCE)).await;
    let row = client.list(ItemState::Ready, 9).await.concat().remove(0);
    assert_eq!((row.id, row.state, row.pushed), (id, RowState::Ready, pushed));
    assert_eq!((row.attempt, row.most, row.priority.get()), (1, 5, -3));
    assert_eq!((row.group.as_deref(), &row.about[..]), (Some("{g}"), "by hand {号}"));
    assert_eq!((row.bytes, &row.payload[..]), (300, &payload[..256]));
    assert_eq!(row.history.ends().len(), 1);
}

/// An item that stays is listed exactly once, although items before it leave between two pages.
pub async fn a_list_goes_on_where_its_page_ended_whatever_went_before(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let pushed = client.push_all(&["0", "1", "2", "3", "4", "5"]).await;
    let (first, next) = client.page(ItemPosition::before(ItemState::Ready), 3).await;
    assert_eq!(ids(&first), pushed[..3]);
    assert_eq!(client.texts(2).await, ["0", "1"]);
    client.one(Request::Cancel { id: pushed[2], spares_work: true }).await;
    client.push(ranked("first", 100)).await;
    let (rest, next) = client.page(next.expect("more"), 9).await;
    assert_eq!((ids(&rest), next), (pushed[3..].to_vec(), None));
}

async fn of_each_page(client: &QueueClient<'_>, state: ItemState) -> Vec<usize> {
    client.list(state, u32::MAX).await.iter().map(Vec::len).collect()
}

pub async fn a_long_list_comes_in_bounded_steps(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let texts: Vec<_> = (0..1_300).map(|at| at.to_string()).collect();
    let pushed = client.push_all(&texts).await;
    assert_eq!(of_each_page(&client, ItemState::Ready).await, [500, 500, 300]);
    let pages = client.list(ItemState::Ready, u32::MAX).await;
    assert_eq!(ids(&pages.concat()), pushed);
    for _ in 0..18 {
        client.send(vec![Request::Push(delayed("x", MINUTE)); Batch::MOST]).await;
    }
    assert_eq!(of_each_page(&client, ItemState::Delayed).await, [500, 500, 152]);
    assert_eq!(client.page(ItemPosition::before(ItemState::Ready), 0).await.0.len(), 1);
}

pub async fn a_page_reads_no_more_payload_than_a_mebibyte(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let payload = vec![7; 200_000];
    for _ in 0..7 {
        client.push(Push { payload: payload.clone(), ..item("") }).await;
    }
    assert_eq!(of_each_page(&client, ItemState::Ready).await, [5, 2]);
}

/// A place may have any value, because callers send it back to the store.
pub async fn a_place_that_no_item_has_is_as_good_as_any(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(of_group("b", "x")).await;
    let alone = client.push(item("alone")).await;
    let later = client.push(delayed("y", Duration::from_secs(60))).await;
    let far = 1 << 53;
    for (place, known) in [
        (ItemPosition::Open(far, ItemId(far as u64)), vec![]),
        (ItemPosition::Open(-far, ItemId(1)), vec![alone]),
        (ItemPosition::Grouped(Name::new("a").ok(), far, ItemId(1)), vec![id, alone]),
        (ItemPosition::Grouped(Name::new("b").ok(), far, ItemId(1)), vec![alone]),
        (ItemPosition::Grouped(Name::new("c").ok(), -far, ItemId(1)), vec![alone]),
        (ItemPosition::Delayed(1, ItemId(far as u64)), vec![later]),
        (ItemPosition::Delayed(far as u64, ItemId(0)), vec![]),
        (ItemPosition::InWork(far as u64, ItemId(far as u64)), vec![]),
        (ItemPosition::Dead(ItemId(far as u64)), vec![]),
    ] {
        let (rows, next) = client.page(place.clone(), 9).await;
        assert_eq!((ids(&rows), next), (known, None), "{place}");
    }
    let reply = client.one(Request::List { after: ItemPosition::before_open(), rows: 9 }).await;
    assert!(matches!(reply, Reply::Items { rows, next: None } if ids(&rows) == [alone]));
}
