//! Tests of the rights of each role in the HTTP API.

mod support;

use seinpaal::Seinpaal;
use seinpaal_serve::{Options, Tokens};
use support::{Site, problem, programs};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn without_the_option_programs_look_and_take_nothing() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = Site::open(seinpaal.clone(), Options::default()).await?;
    assert_eq!(site.get("/v1/names").await?.status, 200);
    for (method, address, body) in [
        ("POST", "/v1/names/a/acquire", "{}"),
        ("POST", "/v1/names/a/hold", "{}"),
        ("DELETE", "/v1/names/a/tickets/00000000000000000000000000000001", ""),
        ("POST", "/v1/queues/q/items", r#"{"items": [{"payload": "a"}]}"#),
        ("POST", "/v1/queues/q/pop", "{}"),
        ("PUT", "/v1/names/a/limit", r#"{"limit": 1}"#),
        ("DELETE", "/v1/queues/q/pause", ""),
        ("PUT", "/v1/names/a/slots", r#"{"slot_names": ["a"]}"#),
        (
            "POST",
            "/v1/names/a/tickets/00000000000000000000000000000001/evict",
            r#"{"reason": "x"}"#,
        ),
    ] {
        let refused = site.call(method, address, body).await?;
        assert_eq!(problem(&refused), (403, "forbidden".to_owned()), "{method} {address}");
    }
    assert!(seinpaal.list("").await?.is_empty() && seinpaal.queues("").await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_may_what_its_role_may() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let lines = "read rrrrrrrrrrrrrrrr\nuse uuuuuuuuuuuuuuuu\noperate oooooooooooooooo\n";
    let site = with_tokens(seinpaal, lines).await?;
    let ask = async |letter: &str,
                     method: &str,
                     address: &str,
                     body: &str|
           -> Result<u16, Box<dyn std::error::Error>> {
        let token = letter.repeat(16);
        let request = format!(
            "{method} {address} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        Ok(site.ask(&request).await?.status)
    };
    let take = ("POST", "/v1/names/a/acquire", r#"{"limit": 9}"#);
    let steer = ("PUT", "/v1/names/a/limit", r#"{"limit": 9}"#);
    for (letter, statuses) in [
        ("r", [200, 403, 403]),
        ("u", [200, 200, 403]),
        ("o", [200, 200, 204]),
        ("x", [401, 401, 401]),
    ] {
        let look = ask(letter, "GET", "/v1/names", "").await?;
        let takes = ask(letter, take.0, take.1, take.2).await?;
        let steers = ask(letter, steer.0, steer.1, steer.2).await?;
        assert_eq!([look, takes, steers], statuses, "{letter}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_site_can_take_nothing() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let ask = |headers: &str| {
        let request = format!(
            "POST /v1/names/a/acquire HTTP/1.1\r\n{headers}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}"
        );
        let site = &site;
        async move { site.ask(&request).await }
    };
    let json_type = "Content-Type: application/json\r\n";
    let origin =
        ask(&format!("Host: localhost\r\n{json_type}Origin: http://evil.example\r\n")).await?;
    assert_eq!(problem(&origin), (403, "forbidden".to_owned()));
    let form = ask("Host: localhost\r\nContent-Type: text/plain\r\n").await?;
    assert_eq!(problem(&form), (415, "not-JSON".to_owned()));
    let rebound = ask(&format!("Host: evil.example\r\n{json_type}")).await?;
    assert_eq!(problem(&rebound), (421, "other-host".to_owned()));
    assert!(origin.header("access-control-allow-origin").is_none());
    assert!(seinpaal.list("").await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_belongs_to_the_token_that_sent_it_and_not_to_its_name() -> Outcome {
    let lines = "use aaaaaaaaaaaaaaaa\nuse bbbbbbbbbbbbbbbb\nuse cccccccccccccccc ana\noperate dddddddddddddddd ana\n";
    let site = with_tokens(Seinpaal::in_memory(), lines).await?;
    let ticket = async |token: &str| -> Result<String, Box<dyn std::error::Error>> {
        let key = format!("Authorization: Bearer {}\r\nIdempotency-Key: k", token.repeat(16));
        let body = r#"{"limit": 9}"#;
        let request = format!(
            "POST /v1/names/a/acquire HTTP/1.1\r\nHost: localhost\r\n{key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        Ok(support::object(&site.ask(&request).await?)["ticket"].to_string())
    };
    let mut tickets = Vec::new();
    for token in ["a", "b", "c", "d"] {
        let (first, again) = (ticket(token).await?, ticket(token).await?);
        assert_eq!(first, again, "{token}");
        assert!(!tickets.contains(&first), "{token} has the ticket of another token");
        tickets.push(first);
    }
    Ok(())
}

async fn with_tokens(seinpaal: Seinpaal, lines: &str) -> Result<Site, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tokens");
    std::fs::write(&path, lines)?;
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let tokens = Some(Tokens::read(&path)?);
    Site::open(seinpaal, Options { api: true, allow_actions: true, tokens, ..Options::default() })
        .await
}
