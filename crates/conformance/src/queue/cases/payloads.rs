use seinpaal_proto::{
    About, Name, Priority,
    queue::{Batch, Dedup, Push, Reply, Request},
};

use crate::{
    CaseStage,
    queue::{
        client::popped,
        requests::{group_limit, item, pop},
    },
    requests::{want, want_now},
    stage::tickets,
};

const MEBIBYTE: usize = 1 << 20;

fn carrying(payload: Vec<u8>) -> Push {
    Push { payload, ..item("") }
}

pub async fn an_empty_payload_comes_back(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("")).await;
    assert_eq!(client.take().await.payload, b"");
}

pub async fn every_byte_comes_back_as_it_was(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let payloads = [
        (0..=255).collect(),
        b"\0".to_vec(),
        b"a\0b\r\n\0".to_vec(),
        b"\xff\xfe\xc3\x28\xed\xa0\x80".to_vec(),
        "{号}\u{1e}\u{1f}".into(),
    ];
    client.send(payloads.iter().cloned().map(carrying).map(Request::Push).collect()).await;
    let taken = client.pop(9).await.into_iter().map(|popped| popped.payload);
    assert_eq!(taken.collect::<Vec<_>>(), payloads);
}

pub async fn a_payload_of_a_mebibyte_comes_back(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let payload: Vec<_> = (0..MEBIBYTE).map(|at| (at * 7 + at / 256) as u8).collect();
    client.push(carrying(payload.clone())).await;
    assert!(client.take().await.payload == payload, "the payload is another");
}

pub async fn the_answers_to_a_batch_hold_a_mebibyte_of_payload(stage: &CaseStage) {
    let client = stage.queue_client().await;
    for _ in 0..6 {
        client.push(carrying(vec![b'x'; MEBIBYTE / 4])).await;
    }
    client.push(item("small")).await;
    let lengths = |items: Vec<_>| items.iter().map(|it: &Vec<u8>| it.len()).collect::<Vec<_>>();
    let payloads = |held: Vec<seinpaal_proto::queue::Popped>| {
        lengths(held.into_iter().map(|popped| popped.payload).collect())
    };
    assert_eq!(payloads(client.pop(64).await), [MEBIBYTE / 4; 4]);
    assert_eq!(payloads(client.pop(64).await), [MEBIBYTE / 4, MEBIBYTE / 4, 5]);
}

pub async fn what_its_maker_says_of_an_item_comes_back(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let odd = [("k", ""), ("", "v"), ("号", "\"'\\{}:;,%|"), ("new\u{a0}line", "🚦")];
    let labels = odd.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let about = About::new("x 1.0", "häst", 7).with_labels(labels).encode();
    let (group, priority) = (Some(Name::new("{g} 号").unwrap()), Priority::new(-3).unwrap());
    let made = Push { group, priority, most: 1_000_000, about, ..item("a") };
    let id = client.push(made.clone()).await;
    let held = client.take().await;
    assert_eq!((held.delivery.id, held.pushed, held.attempt), (id, stage.now(), 1));
    assert_eq!((held.group, held.priority), (made.group, made.priority));
    assert_eq!((held.about, held.most), (made.about, made.most));
}

pub async fn queues_do_not_share_items_whatever_is_in_their_names(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let odd =
        ["", "{", "}", "{}", "{a}b", " ", "/", "'\"", ":*?[x]", "\\", "%", "号", "🚦", "\u{a0}"];
    let named = |suffix: &str| Name::new(&format!("{}{suffix}", stage.name())).unwrap();
    for suffix in odd {
        let batch = client.batch(vec![Request::Push(item(suffix))]);
        client.call(&Batch { name: named(suffix), ..batch }).await;
    }
    for suffix in odd {
        let batch = client.batch(vec![Request::Pop(pop(9))]);
        let reply = client.call(&Batch { name: named(suffix), ..batch }).await.replies.remove(0);
        let payloads: Vec<_> = popped(reply).into_iter().map(|it| it.payload).collect();
        assert_eq!(payloads, [suffix.as_bytes()]);
    }
}

pub async fn the_longest_names_are_as_good_as_any(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let name = format!("{}{}", stage.name(), "é".repeat(300));
    let name = Name::new(&name[..512 - usize::from(!name.is_char_boundary(512))]).unwrap();
    let long = Name::new(&"号x".repeat(128)).unwrap();
    let dedup = Some(Dedup { key: long.clone(), window: 1_000_000 });
    let push = Request::Push(Push { group: Some(long.clone()), dedup, ..item("a") });
    let batch = vec![group_limit(1), push.clone(), push, Request::Pop(pop(9))];
    let mut replies = client.call(&Batch { name, ..client.batch(batch) }).await.replies;
    let Reply::Pushed { id } = replies[1] else { panic!("not pushed: {replies:?}") };
    assert_eq!(replies[2], Reply::Duplicate { id });
    assert_eq!(popped(replies.remove(3))[0].group, Some(long));
}

pub async fn a_queue_and_a_semaphore_of_one_name_do_not_touch_each_other(stage: &CaseStage) {
    let (client, semaphore) = (stage.queue_client().await, stage.client().await);
    let [a, b] = tickets();
    client.push(item("item")).await;
    client.one(crate::queue::requests::limit(7)).await;
    semaphore.take(&want_now(a)).await;
    semaphore.queue(&want(b)).await;
    assert_eq!(client.counts().await, [1, 0, 0, 0]);
    assert_eq!((semaphore.snapshot().await.limit, semaphore.holders().await), (1, vec![a]));
    semaphore.release(a).await;
    let held = client.take().await;
    semaphore.release(b).await;
    assert_eq!(client.store().list(stage.name()).await.unwrap(), []);
    client.acknowledge(held.delivery).await;
    assert_eq!(client.store().list_queues(stage.name()).await.unwrap()[0].1.limit, Some(7));
}
