use super::world::*;
use crate::{
    Priority,
    queue::{Due, FailureReason, How, Push},
    time::{MILLISECOND, SECOND},
};

fn due(due: Due, text: &str) -> Push {
    Push { due, ..item(text) }
}

#[test]
fn a_delayed_item_is_delivered_when_it_is_due_and_not_before() {
    let mut world = World::new();
    world.push(due(Due::In(SECOND), "later"));
    let at = world.now + 2 * SECOND;
    world.push(due(Due::At(at), "at"));
    world.pass(SECOND - 1);
    assert!(world.pop(2, 5).is_empty());
    world.pass(1);
    assert_eq!(world.texts(2, 5), ["later"]);
    world.now = at;
    assert_eq!(world.texts(2, 5), ["at"]);
}

#[test]
fn items_that_are_due_at_the_same_time_come_in_the_order_of_their_pushes() {
    let mut world = World::new();
    let at = Due::At(world.now + SECOND);
    for text in ["a", "b", "c"] {
        world.push(due(at, text));
        world.pass(MILLISECOND);
    }
    world.push(Push { priority: Priority::new(1).unwrap(), ..due(at, "urgent") });
    world.pass(SECOND);
    assert_eq!(world.texts(2, 9), ["urgent", "a", "b", "c"]);
}

#[test]
fn an_item_enters_the_order_where_it_was_due_though_it_is_noticed_later() {
    let mut world = World::new();
    world.push(due(Due::In(SECOND), "due"));
    world.pass(2 * SECOND);
    world.push(item("new"));
    assert_eq!(world.texts(2, 9), ["due", "new"]);
}

#[test]
fn a_due_time_that_has_passed_is_now() {
    let mut world = World::new();
    world.push(item("a"));
    world.push(due(Due::At(1), "long ago"));
    assert_eq!(world.texts(2, 9), ["a", "long ago"]);
}

#[test]
fn what_failed_is_delivered_again_after_its_delay() {
    let mut world = World::new();
    world.push(item("a"));
    let delivery = world.pop(2, 1)[0].delivery;
    world.finish(2, delivery, How::Fail { delay: 5 * SECOND, reason: FailureReason::new("no") });
    assert_eq!(world.look().next_due, Some(5 * SECOND));
    world.pass(5 * SECOND);
    let again = world.pop(2, 1).remove(0);
    assert_eq!(again.attempt, 2);
}

#[test]
fn the_first_in_line_is_told_when_the_next_item_is_due_and_a_sooner_one_is_told_too() {
    let mut world = World::new();
    world.push(due(Due::In(60 * SECOND), "late"));
    let look = world.send(2, [crate::queue::Request::Pop(waiting(1))].to_vec()).replies.look_in;
    assert_eq!(look, Some(60 * SECOND));
    let push = crate::queue::Request::Push(due(Due::In(SECOND), "soon"));
    let told = told(world.send(1, [push].to_vec()).wakeups);
    assert_eq!(told, [(2, crate::queue::What::Watch { look_in: SECOND })]);
    let push = crate::queue::Request::Push(due(Due::In(2 * SECOND), "not as soon"));
    assert_eq!(world.send(1, [push].to_vec()).wakeups, []);
}
