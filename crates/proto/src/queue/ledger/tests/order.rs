use super::world::*;
use crate::{
    Priority,
    queue::{How, Push, Reply, Request},
    time::SECOND,
};

fn of_priority(priority: i32, text: &str) -> Push {
    Push { priority: Priority::new(priority).unwrap(), ..item(text) }
}

#[test]
fn what_comes_first_is_delivered_first() {
    let mut world = World::new();
    for text in ["a", "b", "c"] {
        world.push(item(text));
    }
    assert_eq!(world.texts(2, 2), ["a", "b"]);
    assert_eq!(world.texts(3, 2), ["c"]);
}

#[test]
fn higher_priority_comes_first_and_a_minute_of_waiting_outweighs_a_step() {
    let mut world = World::new();
    world.push(of_priority(0, "old"));
    world.pass(59 * SECOND);
    world.push(of_priority(1, "urgent"));
    world.pass(2 * SECOND);
    world.push(of_priority(1, "later"));
    assert_eq!(world.texts(2, 3), ["urgent", "old", "later"]);
}

#[test]
fn the_order_survives_a_clock_that_is_set_back() {
    let mut world = World::new();
    world.push(item("a"));
    world.now -= 3_600 * SECOND;
    world.push(item("b"));
    assert_eq!(world.texts(2, 2), ["a", "b"]);
}

#[test]
fn what_is_given_back_at_once_is_first_again() {
    let mut world = World::new();
    world.push(item("a"));
    world.push(item("b"));
    let first = world.pop(2, 1).remove(0);
    let back = world.finish(2, first.delivery, How::GiveBack { delay: 0 });
    assert_eq!(back, Reply::Returned { id: first.delivery.id });
    let again = world.pop(2, 1).remove(0);
    assert_eq!(
        (again.payload, again.attempt),
        (b"a".to_vec(), 1),
        "a delivery that is given back does not count"
    );
    assert!(again.delivery.fence > first.delivery.fence);
}

#[test]
fn a_pop_takes_no_more_bytes_than_an_answer_may_have_but_always_one_item() {
    let mut world = World::new();
    for _ in 0..6 {
        world.push(Push { payload: [7; 1 << 18].to_vec(), ..item("") });
    }
    assert_eq!(world.pop(2, 6).len(), 4);
    assert_eq!(world.pop(2, 6).len(), 2);
}

#[test]
fn a_paused_queue_takes_items_and_delivers_none() {
    let mut world = World::new();
    world.configure(crate::queue::Configure::Pause("maintenance".into()));
    world.push(item("a"));
    assert_eq!(world.pop(2, 1).len(), 0);
    assert_eq!(world.look().paused.as_deref(), Some("maintenance"));
    world.configure(crate::queue::Configure::Resume);
    assert_eq!(world.texts(2, 1), ["a"]);
}

#[test]
fn no_more_than_the_limit_is_in_work() {
    let mut world = World::new();
    world.limit(2);
    for text in ["a", "b", "c"] {
        world.push(item(text));
    }
    let held = world.pop(2, 5);
    assert_eq!(held.len(), 2);
    world.limit(1);
    assert_eq!(world.look().in_work, 2, "a lower limit ends no delivery");
    world.finish(2, held[0].delivery, How::Acknowledge);
    assert_eq!(world.pop(3, 5).len(), 0);
    world.finish(2, held[1].delivery, How::Acknowledge);
    assert_eq!(world.texts(3, 5), ["c"]);
}

#[test]
fn a_worker_finishes_and_takes_the_next_in_one_call() {
    let mut world = World::new();
    world.limit(1);
    world.push(item("a"));
    world.push(item("b"));
    let delivery = world.pop(2, 1)[0].delivery;
    let finish = Request::Finish { delivery, how: How::Acknowledge };
    let replies = world.send(2, [finish, Request::Pop(pop(1))].to_vec()).replies.replies;
    assert_eq!(replies[0], Reply::Acknowledged { id: delivery.id });
    assert!(matches!(&replies[1], Reply::Popped { items, .. } if items[0].payload == b"b"));
}

#[test]
fn nothing_is_left_of_an_empty_queue_once_its_clients_are_forgotten() {
    let mut world = World::new();
    world.push(item("a"));
    let delivery = world.pop(2, 1)[0].delivery;
    world.finish(2, delivery, How::Acknowledge);
    assert!(!world.state.is_empty());
    world.pass(31 * SECOND);
    let batch = crate::queue::Batch { number: 0, ..world.batch(9, [].to_vec()) };
    world.execute(&batch);
    assert!(world.state.is_empty());
}
