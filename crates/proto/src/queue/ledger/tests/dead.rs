use super::world::*;
use crate::queue::{
    Delivery, Ending, FailureReason, How, ItemId, ItemState, Purge, Push, Reply, Request, What,
};
use std::vec::Vec;

fn fail(world: &mut World, client: u128) -> Reply {
    let delivery = world.pop(client, 1)[0].delivery;
    let how = How::Fail { delay: 0, reason: FailureReason::new("no route") };
    world.finish(client, delivery, how)
}

fn dead(world: &mut World) -> Vec<crate::queue::ItemRow> {
    world.list(ItemState::Dead, 10).concat()
}

#[test]
fn after_its_last_delivery_an_item_is_a_dead_letter_with_its_history() {
    let mut world = World::new();
    let id = ItemId(world.push(item("a")));
    assert_eq!(fail(&mut world, 2), Reply::Returned { id });
    let held = world.pop(2, 1)[0].delivery;
    world.contacts.0.insert(2, crate::Contact::Silent);
    world.pass(TTL);
    assert_eq!(world.settle(), [(2, What::Lost(held))]);
    assert_eq!(fail(&mut world, 3), Reply::Died { id });
    let row = dead(&mut world).remove(0);
    let endings: Vec<_> = row.history.ends().iter().map(|past| &past.ending).collect();
    let failed = Ending::Failed(FailureReason::new("no route"));
    assert_eq!(endings, [&failed, &Ending::Expired, &failed]);
    assert_eq!((row.id, row.attempt, row.payload.as_slice()), (id, 3, &b"a"[..]));
    assert!(world.pop(2, 1).is_empty());
}

#[test]
fn a_dead_letter_can_be_replayed_with_all_its_deliveries_or_dropped() {
    let mut world = World::new();
    let ids: Vec<_> = ["a", "b"].map(|text| world.push(Push { most: 1, ..item(text) })).into();
    fail(&mut world, 2);
    fail(&mut world, 2);
    let (a, b) = (ItemId(ids[0]), ItemId(ids[1]));
    assert_eq!(world.ask(1, Request::Replay { id: a }), Reply::Replayed { id: a });
    assert_eq!(world.ask(1, Request::Drop { id: b }), Reply::Dropped { id: b });
    assert_eq!(world.ask(1, Request::Drop { id: b }), unknown(b.0));
    let again = world.pop(2, 2);
    assert_eq!((again.len(), again[0].attempt), (1, 1));
    assert_eq!(world.ask(1, Request::Replay { id: a }), unknown(a.0), "the item is not dead");
}

#[test]
fn cancelling_an_item_in_work_tells_its_worker() {
    let mut world = World::new();
    world.push(item("a"));
    let Delivery { id, fence } = world.pop(2, 1)[0].delivery;
    let outcome = world.send(1, [Request::Cancel { id, spares_work: false }].to_vec());
    assert_eq!(outcome.replies.replies, [Reply::Cancelled { id, was: ItemState::InWork }]);
    assert_eq!(told(outcome.wakeups), [(2, What::Lost(Delivery { id, fence }))]);
    let late = world.finish(2, Delivery { id, fence }, How::Acknowledge);
    assert_eq!(late, Reply::Lost { id });
}

#[test]
fn a_purge_takes_out_what_waits_and_nothing_else_a_few_in_each_call() {
    let mut world = World::new();
    world.group_limit(1);
    world.push(item("in work"));
    world.pop(2, 1);
    world.push(Push { due: crate::queue::Due::In(1_000_000), ..item("delayed") });
    (0..100).for_each(|_| assert!(world.push(item("x")) > 0));
    (0..100).for_each(|_| assert!(world.push(of_group("g", "x")) > 0));
    let first = world.ask(1, Request::Purge(Purge::Waiting));
    assert_eq!(first, Reply::Purged { removed: 128, more: true });
    let rest = world.ask(1, Request::Purge(Purge::Waiting));
    assert_eq!(rest, Reply::Purged { removed: 73, more: false });
    let seen = world.look();
    assert_eq!((seen.ready, seen.delayed, seen.in_work), (0, 0, 1));
}
