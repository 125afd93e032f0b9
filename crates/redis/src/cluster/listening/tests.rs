//! Subscriptions at two nodes, of which one answers and the other never does.

mod scene;

use std::pin::pin;

use seinpaal_proto::Ticket;
use tokio::time::advance;

use self::scene::{LIVE, SILENT, Scene};
use super::*;

const TICKETS: [Ticket; 1] = [Ticket(1)];
const TTL: Duration = Duration::from_secs(30);

#[tokio::test]
async fn channels_at_a_silent_node_do_not_delay_those_at_a_live_one() {
    let scene = Scene::new().await;
    let ears = &scene.links.ears;
    (0..500).for_each(|i| drop(ears.want(&format!("silent {i}"), SILENT, TICKETS, TTL)));
    (0..20).for_each(|i| drop(ears.want(&format!("live {i}"), LIVE, TICKETS, TTL)));
    let mut mending = pin!(scene.links.mend());
    let heard = scene.first_of(mending.as_mut(), || scene.deaf_of("live") == 0).await;
    assert!(heard < RESPONSE_TIMEOUT, "the live ones are heard after {heard:?}");
    assert!(scene.first_of(mending, || false).await < 3 * RESPONSE_TIMEOUT);
    assert_eq!(scene.deaf_of("silent"), 500);
}

#[tokio::test]
async fn links_are_tried_and_idle_channels_given_up_even_while_a_channel_is_deaf() {
    let scene = Scene::new().await;
    let ears = &scene.links.ears;
    ears.want("deaf", SILENT, TICKETS, TTL);
    ears.want("idle", LIVE, [], TTL);
    ears.want("idle and deaf", SILENT, [], TTL);
    scene.links.is_awaited.store(true, Ordering::Relaxed);
    scene.links.hurry.notify_one();
    let is_done = || scene.asked("PING") > 0 && scene.asked("SUNSUBSCRIBE") > 0;
    let took = scene.first_of(pin!(keep(scene.links.clone())), is_done).await;
    assert!(took <= ears::LINGER + 2 * ROUND, "it took {took:?}");
    assert_eq!((scene.deaf_of("deaf"), scene.deaf_of("idle")), (1, 0));
}

#[tokio::test]
async fn idle_channels_at_a_node_that_went_silent_are_given_up_without_a_wait_for_each() {
    let scene = Scene::new().await;
    (0..200).for_each(|i| drop(scene.links.ears.want(&format!("idle {i}"), LIVE, [], TTL)));
    scene.first_of(pin!(scene.links.mend()), || false).await;
    assert_eq!((scene.deaf_of("idle"), scene.asked("SSUBSCRIBE")), (0, 200));
    scene.mute();
    advance(ears::LINGER).await;
    let took = scene.first_of(pin!(scene.links.give_up_idle()), || false).await;
    assert!(scene.asked("SUNSUBSCRIBE") > 0 && scene.links.ears.deaf(|_| None).is_empty());
    assert!(took >= RESPONSE_TIMEOUT, "it took {took:?}");
    assert!(took < 2 * RESPONSE_TIMEOUT, "it took {took:?}");
}

#[tokio::test]
async fn giving_up_a_channel_makes_no_node_for_an_address_that_has_left() {
    let scene = Scene::new().await;
    let left = NodeAddress { host: "left".into(), port: 1 };
    scene.links.ears.want("c", LIVE, [], TTL);
    scene.links.ears.listens("c", ListeningLink { node: left.clone(), link: 1 });
    advance(ears::LINGER).await;
    scene.links.give_up_idle().await;
    assert!(!scene.links.nodes().contains_key(&left));
}

#[tokio::test]
async fn channels_of_a_node_that_has_left_are_deaf_even_if_the_node_comes_back() {
    let scene = Scene::new().await;
    scene.links.ears.want("c", LIVE, TICKETS, TTL);
    scene.first_of(pin!(scene.links.mend()), || false).await;
    assert_eq!(scene.deaf_of("c"), 0);
    let left = scene.links.nodes().remove(&scene.live).unwrap();
    drop(left);
    assert_eq!(scene.deaf_of("c"), 1);
}

#[tokio::test]
async fn a_channel_heard_over_a_late_link_is_deaf_once_that_link_is_closed() {
    let scene = Scene::new().await;
    scene.links.ears.want("c", LIVE, TICKETS, TTL);
    scene.first_of(pin!(scene.links.mend()), || false).await;
    let node = scene.links.node(&scene.live);
    scene.mute();
    scene.first_of(pin!(node.try_wakeups()), || false).await;
    let late = node.late_wakeups();
    let at = ListeningLink { node: scene.live.clone(), link: late[0] };
    scene.links.ears.listens("c", at);
    node.close_former_wakeups(&late);
    assert_eq!((late.len(), scene.deaf_of("c")), (1, 1));
}
