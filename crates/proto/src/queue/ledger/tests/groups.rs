use super::world::*;
use crate::queue::{Configure, How, Request, What};

#[test]
fn a_full_group_does_not_block_others() {
    let mut world = World::new();
    world.group_limit(1);
    for text in ["a1", "a2", "a3"] {
        world.push(of_group("a", text));
    }
    world.push(of_group("b", "b1"));
    world.push(item("c"));
    assert_eq!(world.texts(2, 9), ["a1", "b1", "c"]);
    assert_eq!(world.look().ready, 2);
}

#[test]
fn a_group_goes_on_in_its_order_when_it_has_room_again() {
    let mut world = World::new();
    world.group_limit(2);
    for text in ["a1", "a2", "a3", "a4"] {
        world.push(of_group("a", text));
    }
    let held = world.pop(2, 9);
    assert_eq!(held.len(), 2);
    world.finish(2, held[1].delivery, How::Acknowledge);
    assert_eq!(world.texts(2, 9), ["a3"]);
    world.finish(2, held[0].delivery, How::GiveBack { delay: 0 });
    assert_eq!(world.texts(2, 9), ["a1"], "the item that was given back is first again");
}

#[test]
fn within_a_group_priority_counts() {
    let mut world = World::new();
    world.group_limit(1);
    world.push(of_group("a", "a1"));
    let urgent = crate::Priority::new(5).unwrap();
    world.push(crate::queue::Push { priority: urgent, ..of_group("a", "urgent") });
    assert_eq!(world.texts(2, 9), ["urgent"]);
}

#[test]
fn the_limit_of_groups_can_be_changed_at_any_time() {
    let mut world = World::new();
    world.group_limit(1);
    for group in ["a", "b"] {
        for text in ["1", "2", "3"] {
            world.push(of_group(group, &std::format!("{group}{text}")));
        }
    }
    assert_eq!(world.texts(2, 9), ["a1", "b1"]);
    world.group_limit(2);
    assert_eq!(world.texts(2, 9), ["a2", "b2"]);
    world.group_limit(1);
    assert!(world.pop(2, 9).is_empty());
    world.configure(Configure::GroupLimit(None));
    assert_eq!(world.texts(2, 9), ["a3", "b3"]);
}

#[test]
fn more_full_groups_than_one_call_can_look_at_come_in_one_after_the_other() {
    let mut world = World::new();
    world.group_limit(0);
    for group in 0..300 {
        world.push(of_group(&std::format!("g{group:03}"), "x"));
    }
    world.group_limit(1);
    let mut delivered = 0;
    for _ in 0..20 {
        delivered += world.pop(2, 64).len();
    }
    assert_eq!(delivered, 300);
}

#[test]
fn room_in_a_group_calls_a_worker() {
    let mut world = World::new();
    world.group_limit(1);
    world.push(of_group("a", "a1"));
    world.push(of_group("a", "a2"));
    let held = world.pop(2, 1).remove(0);
    assert!(world.pop_as(3, waiting(1)).is_empty());
    let finish = Request::Finish { delivery: held.delivery, how: How::Acknowledge };
    let told = told(world.send(2, [finish].to_vec()).wakeups);
    assert_eq!(told, [(3, What::Called)]);
}
