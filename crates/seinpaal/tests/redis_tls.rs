//! TLS: the authorities that clients and servers trust, and the errors if one does not trust the
//! other.

#[path = "redis_tls/files.rs"]
mod files;
#[path = "support/requests.rs"]
mod requests;

use std::{env, process::Command, time::Duration};

use files::Files;
use redis::cmd;
use requests::{Client, is_granted, plain};
use rustls::crypto::{CryptoProvider, ring};
use seinpaal::store::{News, StoreErrorKind};
use seinpaal_proto::Reply;
use seinpaal_rig::RedisServer;
use tokio::time::timeout;

const BOUND: Duration = Duration::from_secs(30);

async fn works(url: &str, inbox: u128) {
    let mut client = Client::connect(url, inbox).await;
    let other = Client::connect(url, inbox + 1).await;
    assert!(is_granted(&other.acquire("w", inbox * 10).await));
    assert!(matches!(client.acquire("w", inbox * 10 + 1).await, Reply::Queued { .. }));
    other.release("w", inbox * 10).await;
    let news = timeout(BOUND, client.news.recv()).await.expect("in time").expect("news");
    let News::Wakeup(wakeup) = news else { panic!("{news:?}") };
    assert_eq!(wakeup.ticket, requests::ticket(inbox * 10 + 1));
    client.release("w", inbox * 10 + 1).await;
}

async fn is_refused(url: &str, kind: StoreErrorKind, words: &str) {
    let Err(error) = Client::try_connect(url, 1).await else {
        panic!("{url} was accepted");
    };
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[tokio::test]
async fn a_server_is_trusted_that_the_named_authority_has_signed() {
    let files = Files::make();
    let (_server, port) = files.server("server", "no", &[]);
    let options = files.options(None);
    works(&format!("rediss://localhost:{port}{options}"), 1).await;
    works(&format!("rediss://127.0.0.1:{port}{options}"), 3).await;
    let own = files.options(Some("client"));
    works(&format!("rediss://localhost:{port}{own}"), 5).await;
}

#[tokio::test]
async fn each_fault_of_a_certificate_has_its_own_message() {
    let files = Files::make();
    let options = files.options(None);
    for (name, words) in
        [("stranger", "not trusted"), ("other", "another host"), ("expired", "expired")]
    {
        let (_server, port) = files.server(name, "no", &[]);
        let url = format!("rediss://localhost:{port}{options}");
        is_refused(&url, StoreErrorKind::Misconfigured, words).await;
    }
}

#[tokio::test]
async fn a_server_that_wants_a_client_certificate_is_shown_one() {
    let files = Files::make();
    let (_server, port) = files.server("server", "yes", &[]);
    let url = |client| format!("rediss://localhost:{port}{}", files.options(client));
    is_refused(&url(None), StoreErrorKind::Forbidden, "cert=PATH&key=PATH").await;
    is_refused(&url(Some("stranger")), StoreErrorKind::Forbidden, "does not trust our client")
        .await;
    works(&url(Some("client")), 1).await;
}

#[tokio::test]
async fn a_cluster_is_reached_over_tls_with_a_client_certificate() {
    let files = Files::make();
    let (server, port) =
        files.server("server", "yes", &["--cluster-enabled", "yes", "--tls-cluster", "yes"]);
    let mut behind = plain(&server.socket_url("")).await;
    let slots: Vec<u16> = (0..16_384).collect();
    cmd("CLUSTER").arg("ADDSLOTS").arg(slots).exec_async(&mut behind).await.unwrap();
    let url = format!("rediss+cluster://127.0.0.1:{port}{}", files.options(Some("client")));
    // The cluster needs a moment to notice that all slots are served.
    let is_well = async {
        let mut state = cmd("CLUSTER");
        state.arg("INFO");
        while !state.query_async::<String>(&mut behind).await.unwrap().contains("cluster_state:ok")
        {
            tokio::task::yield_now().await;
        }
    };
    timeout(BOUND, is_well).await.expect("a cluster that is well");
    let client = Client::connect(&url, 1).await;
    assert!(is_granted(&client.acquire("w", 1).await));
    let plain = format!("rediss+cluster://127.0.0.1:{port}{}", files.options(None));
    is_refused(&plain, StoreErrorKind::Forbidden, "cert=PATH&key=PATH").await;
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_named_with_what_is_wrong() {
    let files = Files::make();
    let (_server, port) = files.server("server", "no", &[]);
    let (ca, cert, key, empty) = (
        files.text("ca.pem"),
        files.text("client.pem"),
        files.text("client.key"),
        files.text("empty.pem"),
    );
    let other = files.text("other.key");
    for (options, words) in [
        ("?ca=/nowhere/ca.pem".to_owned(), "/nowhere/ca.pem cannot be read"),
        (format!("?ca={empty}"), "no certificate"),
        (format!("?ca={ca}&cert=/nowhere/c.pem&key={key}"), "/nowhere/c.pem cannot be read"),
        (format!("?ca={ca}&cert={cert}&key={empty}"), "no private key"),
        (format!("?ca={ca}&cert={cert}&key={other}"), "does not belong to the certificate"),
    ] {
        let url = format!("rediss://localhost:{port}{options}");
        is_refused(&url, StoreErrorKind::Misconfigured, words).await;
    }
}

#[tokio::test]
async fn the_error_offers_tls_to_a_server_that_has_it_and_none_to_one_that_has_not() {
    let files = Files::make();
    let (server, port) = files.server("server", "no", &[]);
    is_refused(&format!("redis://localhost:{port}"), StoreErrorKind::Unreachable, "rediss://")
        .await;
    let plain = RedisServer::start();
    let port = plain.port();
    let url = format!("rediss://localhost:{port}{}&connect-timeout=300ms", files.options(None));
    is_refused(&url, StoreErrorKind::Unreachable, "whether it speaks TLS").await;
    drop(server);
}

/// Another part of the program has installed its provider, which would be useless to us.
#[tokio::test]
async fn the_provider_that_others_have_installed_is_neither_used_nor_changed() {
    let useless = CryptoProvider { cipher_suites: Vec::new(), ..ring::default_provider() };
    useless.install_default().expect("nobody else in these tests installs one");
    let files = Files::make();
    let (_server, port) = files.server("server", "no", &[]);
    works(&format!("rediss://localhost:{port}{}", files.options(None)), 1).await;
    assert!(CryptoProvider::get_default().unwrap().cipher_suites.is_empty());
}

/// Settings that come from the environment, or are installed in a process, are tested in a child
/// process.
#[tokio::test]
async fn the_authority_in_the_environment_is_trusted_and_no_provider_is_installed() {
    let test = "the_authority_in_the_environment_is_trusted_and_no_provider_is_installed";
    if let Ok(url) = env::var("SEINPAAL_TLS_CHILD") {
        works(&url, 1).await;
        assert!(CryptoProvider::get_default().is_none());
        return;
    }
    let files = Files::make();
    let (_server, port) = files.server("server", "no", &[]);
    let url = format!("rediss://localhost:{port}");
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("SEINPAAL_TLS_CHILD", &url)
        .env("SSL_CERT_FILE", files.path("ca.pem"))
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    is_refused(&url, StoreErrorKind::Misconfigured, "SSL_CERT_FILE").await;
}
