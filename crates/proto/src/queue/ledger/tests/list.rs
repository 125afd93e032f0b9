use super::world::*;
use crate::queue::{
    Due, FailureReason, How, ItemId, ItemPosition, ItemRow, ItemState, Push, Reply, Request,
    RowState, ledger::MOST_PAYLOAD,
};
use crate::time::SECOND;
use std::{string::String, vec, vec::Vec};

fn texts(pages: &[Vec<ItemRow>]) -> Vec<String> {
    pages.iter().flatten().map(|row| String::from_utf8(row.payload.clone()).unwrap()).collect()
}

#[test]
fn ready_items_are_listed_once_those_of_groups_before_the_others() {
    let mut world = World::new();
    for text in ["b1", "1", "a1", "2", "b2", "a2", "3"] {
        match text.split_at(1) {
            (group @ ("a" | "b"), _) => world.push(of_group(group, text)),
            _ => world.push(item(text)),
        };
    }
    world.group_limit(1);
    world.pop(2, 1);
    let listed = ["a1", "a2", "b2", "1", "2", "3"];
    for rows in [1, 2, 3, 6, 100] {
        assert_eq!(texts(&world.list(ItemState::Ready, rows)), listed, "{rows} rows a page");
    }
}

#[test]
fn the_first_by_priority_is_listed_first_and_delayed_items_as_they_fall_due() {
    let mut world = World::new();
    for (text, priority) in [("later", 0), ("first", 5)] {
        let priority = crate::Priority::new(priority).unwrap();
        world.push(Push { priority, ..item(text) });
    }
    assert_eq!(texts(&world.list(ItemState::Ready, 9)), ["first", "later"]);
    for seconds in [3, 1, 2] {
        let due = Due::In(seconds * SECOND);
        world.push(Push { due, ..item(&std::format!("in {seconds}")) });
    }
    let pages = world.list(ItemState::Delayed, 2);
    assert_eq!(texts(&pages), ["in 1", "in 2", "in 3"]);
    assert_eq!(pages[0][0].state, RowState::Delayed { due: world.now + SECOND });
}

#[test]
fn items_in_work_and_dead_letters_are_listed_page_by_page() {
    let mut world = World::new();
    let ids: Vec<_> = (0..9).map(|_| ItemId(world.push(Push { most: 1, ..item("x") }))).collect();
    let held = world.pop(2, 9);
    let numbers = |pages: &[Vec<ItemRow>]| pages.iter().flatten().map(|row| row.id).collect();
    let listed: Vec<_> = numbers(&world.list(ItemState::InWork, 2));
    assert_eq!(listed, ids);
    let how = How::Fail { delay: 0, reason: FailureReason::new("no") };
    held.iter().for_each(|popped| drop(world.finish(2, popped.delivery, how.clone())));
    let dead: Vec<_> = numbers(&world.list(ItemState::Dead, 4));
    assert_eq!(dead, ids);
    let (rows, next) = world.page(ItemPosition::Dead(ids[3]), 2);
    assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), ids[4..6]);
    assert_eq!(next, Some(ItemPosition::Dead(ids[5])));
}

#[test]
fn a_call_looks_at_so_many_items_and_so_much_payload_and_no_more() {
    let mut world = World::new();
    for _ in 0..20 {
        world.send(1, vec![Request::Push(item("x")); 60]);
    }
    let sizes: Vec<_> = world.list(ItemState::Ready, u32::MAX).iter().map(Vec::len).collect();
    assert_eq!(sizes, [500, 500, 200]);
    assert_eq!(world.page(ItemPosition::before(ItemState::Ready), 0).0.len(), 1);

    let mut world = World::new();
    let payload = vec![7; MOST_PAYLOAD / 5];
    for _ in 0..6 {
        world.push(Push { payload: payload.clone(), ..item("") });
    }
    let pages = world.list(ItemState::Ready, 100);
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [5, 1]);
    assert_eq!((pages[0][0].payload.len(), pages[0][0].bytes as usize), (256, payload.len()));
}

/// A reader of a list goes on where the page before ended, even if items were removed meanwhile.
#[test]
fn an_item_that_stays_is_listed_though_its_neighbours_go() {
    let mut world = World::new();
    let ids: Vec<_> = (0..6).map(|_| ItemId(world.push(of_group("g", "x")))).collect();
    let (rows, next) = world.page(ItemPosition::before(ItemState::Ready), 3);
    assert_eq!(rows.len(), 3);
    for id in &ids[..3] {
        world.ask(1, Request::Cancel { id: *id, spares_work: true });
    }
    let (rest, next) = world.page(next.unwrap(), 9);
    assert_eq!(rest.iter().map(|row| row.id).collect::<Vec<_>>(), ids[3..]);
    assert_eq!(next, None);
}

#[test]
fn a_cancel_that_spares_work_takes_what_waits_and_nothing_else() {
    let mut world = World::new();
    let id = ItemId(world.push(item("a")));
    let later = ItemId(world.push(Push { due: Due::In(SECOND), ..item("b") }));
    let held = world.pop(2, 1).remove(0);
    let cancel = |id| Request::Cancel { id, spares_work: true };
    assert_eq!(world.ask(1, cancel(id)), unknown(id.0));
    let cancelled = Reply::Cancelled { id: later, was: ItemState::Delayed };
    assert_eq!(world.ask(1, cancel(later)), cancelled);
    assert_eq!(world.finish(2, held.delivery, How::Acknowledge), Reply::Acknowledged { id });
}
