//! Guarded writes on a real cluster: in the slot of the name, and said before anything is sent
//! elsewhere.

use seinpaal::{GuardedError, Seinpaal, Value};
use seinpaal_rig::RedisCluster;

#[tokio::test]
async fn in_a_cluster_keys_in_the_slot_of_the_name_are_written_and_others_refused() {
    let cluster = RedisCluster::start();
    let seinpaal = Seinpaal::connect(&cluster.url()).await.unwrap();
    for name in ["gpus", "a{b}c", "zürich 東京", "100%"] {
        let semaphore = seinpaal.semaphore(name).limit(1);
        let permit = semaphore.acquire().await.unwrap();
        let (text, runs) = (permit.key("text"), format!("runs{}", permit.hash_tag()));
        let written = permit
            .guarded(|tx| {
                tx.set(&text, "x").incr(&runs).get(&text);
            })
            .await
            .unwrap();
        assert_eq!(written[1..], [Value::Int(1), Value::Bytes(b"x".to_vec())], "{name}");
        let elsewhere = permit
            .guarded(|tx| {
                tx.incr(&runs).incr("elsewhere{of another slot}");
            })
            .await;
        assert!(matches!(elsewhere, Err(GuardedError::OtherHashSlot(_))), "{name}: {elsewhere:?}");
        semaphore.evict(permit.ticket()).await.unwrap();
        let refused = permit
            .guarded(|tx| {
                tx.incr(&runs);
            })
            .await;
        assert!(matches!(refused, Err(GuardedError::NotHeld)), "{name}: {refused:?}");
        let again = semaphore.acquire().await.unwrap();
        let read = again
            .guarded(|tx| {
                tx.get(&runs);
            })
            .await
            .unwrap();
        assert_eq!(read, [Value::Bytes(b"1".to_vec())], "{name}");
    }
}

#[tokio::test]
async fn in_a_cluster_a_slot_that_is_used_for_the_first_time_is_guarded_once() {
    let cluster = RedisCluster::start();
    let url = format!("{}?restart-guard=1250ms", cluster.url());
    let ttl = std::time::Duration::from_secs(1);
    let seinpaal = Seinpaal::builder(&url).ttl(ttl).connect().await.unwrap();
    let semaphore = seinpaal.semaphore("gpus").limit(1);
    assert!(semaphore.try_acquire().await.unwrap().is_none());
    assert!(semaphore.snapshot().await.unwrap().guarded_for.is_some());
    semaphore.acquire().await.unwrap().release().await.unwrap();
    assert!(semaphore.try_acquire().await.unwrap().is_some());
    assert_eq!(semaphore.snapshot().await.unwrap().guarded_for, None);
}
