use super::world::*;
use crate::{
    Contact,
    queue::{How, Pop, Request, What},
    time::SECOND,
};

fn called(client: u128) -> (u128, What) {
    (client, What::Called)
}

fn push(world: &mut World, count: usize) -> std::vec::Vec<(u128, What)> {
    let push = Request::Push(item("x"));
    let told = told(world.send(1, std::vec![push; count]).wakeups);
    told.into_iter().filter(|(_, what)| *what == What::Called).collect()
}

fn idle(world: &mut World, client: u128, items: u32) {
    assert!(world.pop_as(client, waiting(items)).is_empty());
    world.pass(1);
}

#[test]
fn an_item_calls_one_worker_and_the_first_that_stood_in_line() {
    let mut world = World::new();
    (2..6).for_each(|client| idle(&mut world, client, 1));
    assert_eq!(push(&mut world, 1), [called(2)]);
    assert_eq!(push(&mut world, 2), [called(3), called(4)]);
    assert_eq!(world.texts(2, 1).len(), 1);
    assert_eq!(push(&mut world, 1), [called(5)]);
}

#[test]
fn a_worker_that_wants_many_is_called_for_many() {
    let mut world = World::new();
    idle(&mut world, 2, 8);
    idle(&mut world, 3, 8);
    assert_eq!(push(&mut world, 5), [called(2)]);
    assert_eq!(push(&mut world, 3), []);
    assert_eq!(push(&mut world, 1), [called(3)]);
}

#[test]
fn a_worker_that_got_less_than_it_wanted_stands_in_line_for_the_rest() {
    let mut world = World::new();
    push(&mut world, 1);
    assert_eq!(world.pop_as(2, waiting(3)).len(), 1);
    assert_eq!(push(&mut world, 1), [called(2)]);
}

#[test]
fn nobody_is_called_for_what_cannot_be_delivered() {
    let mut world = World::new();
    world.limit(1);
    push(&mut world, 2);
    let held = world.pop(2, 1).remove(0);
    idle(&mut world, 3, 1);
    assert_eq!(push(&mut world, 1), []);
    let finish = Request::Finish { delivery: held.delivery, how: How::Acknowledge };
    assert_eq!(told(world.send(2, [finish].to_vec()).wakeups), [called(3)]);
}

#[test]
fn a_worker_that_cannot_be_reached_is_not_called() {
    let mut world = World::new();
    idle(&mut world, 2, 1);
    idle(&mut world, 3, 1);
    world.contacts.0.insert(2, Contact::Silent);
    assert_eq!(push(&mut world, 1), [called(3)]);
}

#[test]
fn a_worker_that_was_called_and_does_not_come_is_not_waited_for() {
    let mut world = World::new();
    idle(&mut world, 2, 1);
    idle(&mut world, 3, 1);
    let told = told(world.send(1, [Request::Push(item("x"))].to_vec()).wakeups);
    assert_eq!(told, [called(2), (3, What::Watch { look_in: SECOND })]);
    world.pass(SECOND);
    assert_eq!(world.settle(), [called(3)]);
}

#[test]
fn a_worker_that_leaves_is_not_called() {
    let mut world = World::new();
    idle(&mut world, 2, 1);
    world.ask(2, Request::Leave);
    assert_eq!(push(&mut world, 1), []);
}

#[test]
fn a_watch_that_does_not_look_is_followed_by_the_next_in_line() {
    let mut world = World::new();
    let delayed = crate::queue::Push { due: crate::queue::Due::In(10 * SECOND), ..item("x") };
    world.push(delayed);
    idle(&mut world, 2, 1);
    idle(&mut world, 3, 1);
    world.pass(12 * SECOND);
    assert_eq!(world.settle(), [called(3)], "the first should have looked two seconds ago");
}

#[test]
fn a_place_ends_when_its_worker_is_not_heard_from() {
    let mut world = World::new();
    idle(&mut world, 2, 1);
    world.pass(180 * SECOND);
    assert_eq!(world.look().idle, 1);
    assert_eq!(world.look().idle, 0);
    assert_eq!(push(&mut world, 1), []);
}

#[test]
fn workers_that_drain_are_called_when_nothing_is_left_and_others_are_not() {
    let mut world = World::new();
    push(&mut world, 1);
    let held = world.pop(9, 1).remove(0);
    idle(&mut world, 2, 1);
    for client in [3, 4] {
        world.pop_as(client, Pop { drains: true, ..waiting(1) });
    }
    let finish = Request::Finish { delivery: held.delivery, how: How::Acknowledge };
    let mut told = told(world.send(9, [finish].to_vec()).wakeups);
    told.retain(|(_, what)| *what == What::Called);
    assert_eq!(told, [called(3), called(4)]);
}
