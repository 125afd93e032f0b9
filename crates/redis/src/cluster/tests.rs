//! Callers at nodes that take connections and answer nobody.

use std::{
    net::TcpListener,
    task::{Context, Waker},
};

use futures_util::future::join_all;
use tokio::sync::mpsc;

use seinpaal_store::url::StoreUrl;

use super::*;

const CALLERS: usize = 10;

/// A node that answers nobody, and a cluster that knows no other.
fn silent() -> (TcpListener, Arc<ClusterLinks>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("redis+cluster://127.0.0.1:{port}?connect-timeout=200ms");
    let Ok(StoreUrl::Cluster(url)) = StoreUrl::parse(&url) else { panic!("the URL of a cluster") };
    let keys = Keys::new("seinpaal:").unwrap();
    let (news, _) = mpsc::unbounded_channel();
    let options = ClusterOptions { url, keys, inbox: Inbox(1), news, edit: None };
    (listener, Arc::new_cyclic(|me| ClusterLinks::new(options, me.clone())))
}

/// How many connections were made to the node.
fn connections(listener: &TcpListener) -> usize {
    std::iter::from_fn(|| listener.accept().ok()).count()
}

fn only_node(links: &ClusterLinks) -> Arc<ClusterNode> {
    let (host, port) = links.url.nodes[0].clone();
    links.node(&NodeAddress { host, port })
}

#[tokio::test]
async fn callers_at_a_silent_node_share_one_failed_connection() {
    let (listener, links) = silent();
    let node = only_node(&links);
    let ping = redis::cmd("PING");
    let answers = join_all((0..CALLERS).map(|_| node.command(&ping, 1000))).await;
    assert!(answers.iter().all(Result::is_err));
    assert_eq!(connections(&listener), 1);
    assert!(node.command(&ping, 1000).await.is_err());
    assert_eq!(connections(&listener), 1, "a later caller tries anew");
}

#[tokio::test]
async fn subscribers_at_a_silent_node_share_one_failed_connection() {
    let (listener, links) = silent();
    let node = only_node(&links);
    let task = NodeTask::Listen("channel");
    join_all((0..CALLERS).map(|_| node.run(&task, false))).await;
    assert_eq!(connections(&listener), 1);
}

#[tokio::test]
async fn callers_that_need_a_map_share_one_look_that_failed() {
    let (listener, links) = silent();
    let looks = join_all((0..CALLERS).map(|_| links.look(0))).await;
    assert!(looks.iter().all(Result::is_err));
    assert_eq!(connections(&listener), 1);
    assert!(links.look(0).await.is_err());
    assert_eq!(connections(&listener), 1, "a later caller looks anew");
}

#[tokio::test]
async fn a_doubt_about_a_node_does_not_wait_for_a_connection_to_it() {
    let (_listener, links) = silent();
    let node = only_node(&links);
    let ping = redis::cmd("PING");
    let mut opening = Box::pin(node.command(&ping, 1000));
    assert!(opening.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    node.doubt(Duration::ZERO);
}
