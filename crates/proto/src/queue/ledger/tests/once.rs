use super::world::*;
use crate::{
    Name,
    queue::{Dedup, How, ItemState, Push, Reply, Request},
    time::SECOND,
};

#[test]
fn a_batch_that_arrives_again_is_answered_as_before_and_done_once() {
    let mut world = World::new();
    let batch = world.batch(1, [Request::Push(item("a")), Request::Push(item("b"))].to_vec());
    let first = world.execute(&batch).replies.replies;
    assert_eq!(world.execute(&batch).replies.replies, first);
    assert_eq!(world.look().ready, 2);
}

#[test]
fn a_pop_whose_answer_was_lost_gives_the_same_deliveries_again() {
    let mut world = World::new();
    world.push(item("a"));
    world.push(item("b"));
    let batch = world.batch(2, [Request::Pop(pop(1))].to_vec());
    let first = world.execute(&batch).replies.replies;
    assert_eq!(world.execute(&batch).replies.replies, first);
    assert_eq!(world.look().in_work, 1);
    world.pass(SECOND);
    let Reply::Popped { items, valid_for, .. } = &world.execute(&batch).replies.replies[0] else {
        panic!("not popped");
    };
    assert_eq!(
        (items.len(), *valid_for),
        (1, Some(TTL - SECOND)),
        "the lease counts from the first delivery"
    );
}

#[test]
fn an_answer_again_leaves_out_what_is_over() {
    let mut world = World::new();
    world.push(item("a"));
    let batch = world.batch(2, [Request::Pop(pop(1))].to_vec());
    world.execute(&batch);
    world.contacts.0.insert(2, crate::Contact::Silent);
    world.pass(25 * SECOND);
    world.execute(&batch);
    let id = world.look().work[0].id;
    world.ask(1, Request::Cancel { id, spares_work: false });
    let Reply::Popped { items, .. } = &world.execute(&batch).replies.replies[0] else { panic!() };
    assert!(items.is_empty());
}

#[test]
fn an_earlier_batch_that_arrives_late_does_nothing() {
    let mut world = World::new();
    let early = world.batch(1, [Request::Push(item("a"))].to_vec());
    world.push(item("b"));
    assert_eq!(world.execute(&early).replies.replies, [Reply::Late]);
    assert_eq!(world.look().ready, 1);
}

#[test]
fn a_batch_that_was_done_in_time_is_answered_as_before_though_its_deadline_has_passed() {
    let mut world = World::new();
    let batch = world.batch(1, [Request::Push(item("a"))].to_vec());
    let first = world.execute(&batch).replies.replies;
    world.pass(3_600 * SECOND);
    assert_eq!(world.execute(&batch).replies.replies, first);
    assert_eq!(world.look().ready, 1);
}

#[test]
fn a_batch_that_arrives_after_its_deadline_does_nothing_though_its_session_is_forgotten() {
    let mut world = World::new();
    let batch = world.batch(1, [Request::Push(item("a"))].to_vec());
    world.execute(&batch);
    let held = world.pop(2, 1).remove(0);
    world.finish(2, held.delivery, How::Acknowledge);
    world.pass(31 * SECOND);
    world.settle();
    assert_eq!(world.execute(&batch).replies.replies, [Reply::Late]);
    assert_eq!(world.look().ready, 0);
}

/// Deadlines are readings of the store's clock, so a clock that is set back gives a stuck copy more
/// time than the session is remembered. This is not promised (docs/guide/promises.md, "Queues").
#[test]
fn a_copy_of_a_forgotten_batch_is_executed_again_only_if_the_clock_was_set_back() {
    for (step_back, is_again) in [(0, false), (10 * SECOND, true)] {
        let mut world = World::new();
        let batch = world.batch(1, [Request::Push(item("a"))].to_vec());
        world.execute(&batch);
        world.pass(31 * SECOND);
        world.settle();
        world.now -= step_back;
        let again = world.execute(&batch).replies.replies;
        assert_eq!(again != [Reply::Late], is_again, "{step_back}");
        assert_eq!(world.look().ready, 1 + u32::from(is_again));
    }
}

#[test]
fn an_acknowledgement_is_answered_alike_however_often_it_arrives() {
    let mut world = World::new();
    world.push(item("a"));
    let delivery = world.pop(2, 1).remove(0).delivery;
    let finish = Request::Finish { delivery, how: How::Acknowledge };
    let batch = world.batch(2, [finish.clone()].to_vec());
    let done = [Reply::Acknowledged { id: delivery.id }];
    assert_eq!(world.execute(&batch).replies.replies, done);
    assert_eq!(world.execute(&batch).replies.replies, done);
    assert_eq!(
        world.ask(2, finish),
        Reply::Lost { id: delivery.id },
        "another batch is another request"
    );
}

fn keyed(window: u64) -> Push {
    Push { dedup: Some(Dedup { key: Name::new("k").unwrap(), window }), ..item("a") }
}

#[test]
fn a_key_is_refused_for_its_window_whatever_has_become_of_the_item() {
    let mut world = World::new();
    let id = world.push(keyed(60 * SECOND));
    let duplicate = Reply::Duplicate { id: crate::queue::ItemId(id) };
    assert_eq!(world.ask(1, Request::Push(keyed(60 * SECOND))), duplicate);
    let held = world.pop(2, 1).remove(0);
    world.finish(2, held.delivery, How::Acknowledge);
    world.pass(59 * SECOND);
    assert_eq!(world.ask(1, Request::Push(keyed(60 * SECOND))), duplicate);
    world.pass(SECOND);
    assert!(world.push(keyed(60 * SECOND)) > id);
}

#[test]
fn a_cancelled_item_can_be_pushed_again_under_its_key() {
    let mut world = World::new();
    let id = crate::queue::ItemId(world.push(keyed(60 * SECOND)));
    let cancelled = world.ask(1, Request::Cancel { id, spares_work: false });
    assert_eq!(cancelled, Reply::Cancelled { id, was: ItemState::Ready });
    assert_eq!(world.ask(1, Request::Cancel { id, spares_work: false }), unknown(id.0));
    world.push(keyed(60 * SECOND));
}

/// With 64 keys in a batch, and batches that forget only four, keys would be remembered ever longer
/// the more there are.
#[test]
fn keys_whose_time_is_over_are_forgotten_as_fast_as_new_ones_come() {
    let mut world = World::new();
    for round in 0..20 {
        let push = |n: u32| {
            let key = Name::new(&std::format!("{round}.{n}")).unwrap();
            Request::Push(Push { dedup: Some(Dedup { key, window: SECOND }), ..item("a") })
        };
        world.send(1, (0..64).map(push).collect());
        world.pass(2 * SECOND);
    }
    let Ok(head) = crate::queue::State::head(&mut world.state);
    assert!(head.keys <= 2 * 64, "{} keys are remembered", head.keys);
}
