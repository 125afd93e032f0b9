use super::world::*;
use crate::{
    Contact,
    queue::{How, Pop, Renew, Reply, Request, What},
    time::{SECOND, margin},
};

#[test]
fn what_a_worker_that_is_not_heard_from_had_is_delivered_again_when_its_lease_ends() {
    let mut world = World::new();
    world.push(item("a"));
    let first = world.pop(2, 1).remove(0);
    world.contacts.0.insert(2, Contact::Silent);
    world.pass(TTL - 1);
    assert!(world.pop(3, 1).is_empty());
    world.pass(1);
    let again = world.pop(3, 1).remove(0);
    assert_eq!((again.payload.as_slice(), again.attempt), (&b"a"[..], 2));
    assert!(again.delivery.fence > first.delivery.fence);
    let late = world.finish(2, first.delivery, How::Acknowledge);
    assert_eq!(late, Reply::Lost { id: first.delivery.id });
    assert_eq!(world.look().in_work, 1, "the late worker ends nothing");
}

#[test]
fn a_renewal_keeps_a_delivery_and_tells_which_are_lost() {
    let mut world = World::new();
    world.push(item("a"));
    let held = world.pop(2, 1).remove(0).delivery;
    let gone = crate::queue::Delivery { id: held.id, fence: crate::Fence(held.fence.0 - 1) };
    for _ in 0..10 {
        world.pass(TTL / 2);
        let renew = Renew { ttl: TTL, margin: margin(TTL), deliveries: [held, gone].to_vec() };
        let renewed = world.ask(2, Request::Renew(renew));
        assert_eq!(renewed, Reply::Renewed { valid_for: Some(TTL), lost: [gone].to_vec() });
    }
}

#[test]
fn a_clock_that_jumps_forward_ends_no_lease_whose_worker_listens() {
    let mut world = World::new();
    world.push(item("a"));
    world.pop(2, 1);
    world.pass(3_600 * SECOND);
    assert!(world.pop(3, 1).is_empty());
    world.contacts.0.insert(2, Contact::Silent);
    world.pass(TTL);
    assert_eq!(world.pop(3, 1).len(), 1, "time counts in full for a worker that does not listen");
}

#[test]
fn a_worker_whose_process_the_kernel_vouches_for_keeps_its_items() {
    let mut world = World::new();
    world.contacts.0.insert(2, Contact::Alive);
    world.push(item("a"));
    let reply = world.ask(2, Request::Pop(pop(1)));
    assert!(matches!(reply, Reply::Popped { valid_for: None, .. }));
    for _ in 0..20 {
        world.pass(TTL);
        assert!(world.pop(3, 1).is_empty());
    }
    world.state.end_leases_of(crate::Inbox(2));
    world.contacts.0.insert(2, Contact::Dead);
    assert_eq!(world.texts(3, 1), ["a"]);
}

#[test]
fn a_worker_is_told_what_it_has_lost_and_the_first_in_line_looks_when_a_lease_can_end() {
    let mut world = World::new();
    world.push(item("a"));
    let held = world.pop_as(2, Pop { margin: TTL, ..pop(1) }).remove(0).delivery;
    let look = world.send(3, [Request::Pop(waiting(1))].to_vec()).replies.look_in;
    assert_eq!(look, Some(TTL));
    world.pass(TTL);
    assert_eq!(world.settle(), [(2, What::Lost(held)), (3, What::Called)]);
}

#[test]
fn thousands_of_leases_that_end_at_once_are_ended_a_few_in_each_call() {
    let mut world = World::new();
    for n in 0..300 {
        world.push(item(&std::format!("{n}")));
    }
    while !world.pop(2, 64).is_empty() {}
    world.pass(TTL);
    world.contacts.0.insert(2, Contact::Silent);
    let outcome = world.send(3, [].to_vec());
    assert!(outcome.replies.backlog);
    assert_eq!(world.look().in_work, 300 - 2 * 128);
}
