//! Nodes that each fail for a moment. The leases that they end, forget or report by themselves cost
//! no client a permit that a majority keeps.

use seinpaal_proto::{Ticket, What};
use seinpaal_rig::Proxy;
use tokio::time::timeout;

use super::*;

const BOUND: Duration = Duration::from_secs(60);

/// How many clients listen at a node as the client with inbox 1.
async fn listeners(nodes: &Ensemble, node: usize) -> u32 {
    let channel = format!("seinpaal:inbox:{}", Inbox(1));
    let (_, listeners): (String, u32) =
        nodes.say(node, cmd("PUBSUB").arg("NUMSUB").arg(channel)).await;
    listeners
}

/// Makes a node report that these tickets have ended, as it does when their lease ends there.
async fn tell_ends(nodes: &Ensemble, node: usize, numbers: &[u128]) {
    while listeners(nodes, node).await == 0 {
        tokio::task::yield_now().await;
    }
    for number in numbers {
        let text = format!("ended {} expired seinpaal:{{n}}", ticket(*number));
        let channel = format!("seinpaal:inbox:{}", Inbox(1));
        assert_eq!(nodes.say::<u32>(node, cmd("PUBLISH").arg(channel).arg(text)).await, 1);
    }
}

/// The number of the next ticket whose end the client hears.
async fn next_end(client: &mut Client) -> u128 {
    let ended = async {
        loop {
            match client.news.recv().await.expect("news") {
                News::Wakeup(wakeup) if matches!(wakeup.what, What::Ended(_)) => {
                    return wakeup.ticket.0 >> 32;
                }
                _ => {}
            }
        }
    };
    timeout(BOUND, ended).await.expect("news in time")
}

/// Once the client hears the ends of tickets 90 and 91, it has heard every earlier message as well.
#[tokio::test]
async fn ends_at_single_nodes_between_which_a_majority_renewed_the_permit_do_not_end_it() {
    let nodes = Ensemble::start();
    let mut client = nodes.client(1).await;
    assert!(is_granted(&client.attempt(1, 1).await));
    tell_ends(&nodes, 0, &[1, 90]).await;
    tell_ends(&nodes, 1, &[90]).await;
    assert_eq!(next_end(&mut client).await, 90);
    assert!(is_renewed(&client.ask(renewal(1)).await.unwrap()));
    tell_ends(&nodes, 1, &[1, 91]).await;
    tell_ends(&nodes, 0, &[91]).await;
    assert_eq!(next_end(&mut client).await, 91);
    tell_ends(&nodes, 0, &[1]).await;
    assert_eq!(next_end(&mut client).await, 1, "two nodes have said so since the renewal");
}

#[tokio::test]
async fn one_node_that_says_twice_that_a_permit_is_over_is_no_majority() {
    let nodes = Ensemble::start();
    let mut client = nodes.client(1).await;
    assert!(is_granted(&client.attempt(1, 1).await));
    tell_ends(&nodes, 0, &[1, 1, 90]).await;
    tell_ends(&nodes, 1, &[90]).await;
    assert_eq!(next_end(&mut client).await, 90);
}

#[tokio::test]
async fn a_lease_with_many_tickets_is_made_whole_at_a_node_that_forgot() {
    const TICKETS: u32 = Batch::MOST_UNDER_A_LEASE as u32;
    let series = ticket(7).series();
    let all = || (1..=TICKETS).map(|number| series.ticket(number));
    let mut nodes = Ensemble::start();
    let client = nodes.client(1).await;
    for ticket in all() {
        let ask = Acquire { ticket, ..attempt(7, 200) };
        assert!(is_granted(&client.ask(Request::Acquire(ask)).await.unwrap()));
    }
    nodes.servers[0].kill();
    nodes.servers[0].start_again();
    let sum: u64 = all().map(Ticket::digest).sum();
    let whom = Whom::All { members: TICKETS, digest: sum % (1 << 48) };
    let renew = Renew { lease: ticket(7).lease(), ttl: 30 * SECOND, margin: SECOND, whom };
    let renewed = async || {
        let reply = client.ask(Request::Renew(renew.clone())).await.unwrap();
        assert!(matches!(reply, Reply::Renewed { .. }), "{reply:?}");
    };
    let fields = cmd("HLEN").arg("seinpaal:{n}").clone();
    let made_whole = async {
        while nodes.say::<u32>(0, &fields).await < TICKETS {
            renewed().await;
        }
    };
    timeout(BOUND, made_whole).await.expect("the node has all tickets");
    // Now another node may fail, because two nodes still have all tickets.
    nodes.servers[1].kill();
    renewed().await;
}

/// The third node is reached through a proxy, which later leads to the first node.
#[tokio::test]
async fn two_nodes_that_come_to_be_one_server_have_one_vote() {
    let mut nodes = Ensemble::start();
    let ports: Vec<u16> = nodes.servers.iter().map(RedisServer::port).collect();
    let proxy = Proxy::start(ports[2]).unwrap();
    let url = format!(
        "redis+quorum://127.0.0.1:{},127.0.0.1:{},127.0.0.1:{}?restart-guard=off",
        ports[0],
        ports[1],
        proxy.port()
    );
    let client = Client::connect(&url, 1).await.unwrap();
    proxy.lead_to(ports[0]);
    nodes.servers[2].kill();
    let came = async {
        while listeners(&nodes, 0).await < 2 {
            tokio::task::yield_now().await;
        }
    };
    timeout(BOUND, came).await.expect("the client connects again");
    assert!(is_granted(&client.attempt(1, 1).await), "two servers are a majority");
    client.ask(release(1)).await.unwrap();
    nodes.servers[1].kill();
    // The first error may be about the connection that was just cut.
    let refused = async {
        loop {
            let error = client.ask(Request::Acquire(attempt(2, 1))).await.unwrap_err();
            if error.to_string().contains("same server") {
                break;
            }
        }
    };
    timeout(BOUND, refused).await.expect("the client says that two nodes are one server");
}
