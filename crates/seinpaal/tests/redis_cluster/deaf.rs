//! Wakeups while a master is away.

use super::*;

/// Names of which this many are at the first master, and this many at the second.
fn names_at(cluster: &RedisCluster, wanted: [usize; 2]) -> Vec<String> {
    let mut left = wanted;
    let is_wanted = |name: &String| {
        let owner = cluster.owner_of(&keys(name)[0]);
        let is_wanted = left.get(owner).is_some_and(|left| *left > 0);
        if is_wanted {
            left[owner] -= 1;
        }
        is_wanted
    };
    (0..)
        .map(|number| format!("deaf {number}"))
        .filter(is_wanted)
        .take(wanted.iter().sum())
        .collect()
}

/// More names are at the master that is away than subscriptions are made at once.
#[tokio::test]
async fn a_master_that_is_away_keeps_no_client_from_hearing_the_others() {
    let mut cluster = RedisCluster::start_with(3, 0, &["--cluster-require-full-coverage", "no"]);
    let client = Client::connect(&cluster.url(), 1).await;
    for (ticket, name) in names_at(&cluster, [60, 20]).iter().enumerate() {
        assert!(is_granted(&client.acquire(name, ticket as u128 + 1).await), "{name}");
    }
    let heard = |cluster: &RedisCluster| {
        cluster.nodes()[1].say(&["PUBSUB", "SHARDCHANNELS"]).lines().count()
    };
    assert_eq!(heard(&cluster), 20);
    cluster.kill(0);
    cluster.nodes()[1].say(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    let heard_again = async {
        while heard(&cluster) < 20 {
            tokio::task::yield_now().await;
        }
    };
    timeout(2 * BOUND, heard_again).await.expect("it hears all names at the second master");
}
