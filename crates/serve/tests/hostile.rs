//! Tests with hostile names, requests, hosts and origins, and of the rights of tokens.

mod support;

use std::time::Duration;

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use support::{Site, csrf};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn what_others_named_is_text_on_every_page() -> Outcome {
    let hostile = "<script>alert(1)</script>\"'&{}\u{202e}";
    let seinpaal = Seinpaal::in_memory();
    let name = seinpaal.semaphore(hostile);
    let held = name.acquire().label("<b>", "</td><img src=x onerror=alert(1)>").await?;
    let _waits = support::waiting(name.acquire().label("x", hostile)).await;
    name.pause("<img src=x onerror=alert(2)>\u{202e}").await?;
    let queue = seinpaal.queue(hostile);
    queue.push("<script>alert(3)</script>\u{202e}").deliveries(1).group("<i>\u{202e}").await?;
    queue.pop().await?.fail("<script>alert(4)</script>\u{202e}", Duration::ZERO).await?;
    for delay in [0, 60] {
        let pushing = queue.push("<script>alert(7)</script>").group("</td><img src=x>\u{202e}");
        pushing.label("<b>", hostile).delay(Duration::from_secs(delay)).await?;
    }
    let site = Site::open(seinpaal, Options { allow_actions: true, ..Options::default() }).await?;
    let encoded = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%22'%26%7B%7D%E2%80%AE";
    for page in [
        "/",
        "/queues",
        &format!("/name?n={encoded}"),
        &format!("/queue?n={encoded}"),
        &format!("/queue?n={encoded}&state=ready&match={encoded}"),
        &format!("/queue?n={encoded}&state=delayed&after={encoded}"),
        &format!("/queue?n={encoded}&state={encoded}"),
        &format!("/confirm?do=cancel-all&state=ready&n={encoded}&match=%3Cscript"),
        &format!("/?q={encoded}"),
        &format!("/confirm?do=pause&n={encoded}"),
        &format!("/confirm?do=evict&n={encoded}&t={}", held.ticket()),
        &format!("/nowhere/{encoded}"),
    ] {
        let body = site.get(page).await?.body;
        assert!(body.len() > 200, "{page}: {body}");
        let scripts = body.matches("<script").count();
        assert_eq!((scripts, body.matches("<img").count()), (1, 0), "{page}");
        let read = without_values(&body);
        assert!(!read.contains('\u{202e}'), "a line is turned around on {page}: {read}");
    }
    Ok(())
}

/// Returns a page without the values of its fields and keys, which no visitor reads as text.
fn without_values(body: &str) -> String {
    let mut pieces = body.split("value=\"").flat_map(|piece| piece.split("data-key=\""));
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| all + piece.split_once('"').map_or("", |(_, rest)| rest))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_is_text_on_every_page_and_no_control_character_gets_in() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let taken = seinpaal.semaphore("taken");
    let site = Site::open(seinpaal, Options { allow_actions: true, ..Options::default() }).await?;
    let secret = csrf(&site.get("/confirm?do=pause&n=taken").await?.body)?;
    let form = |reason: &str| format!("do=pause&n=taken&csrf={secret}&reason={reason}");
    for reason in ["", "+", "a%00b", "a%0Ab", "a%1Fb", "a%C2%9Bb", &"x".repeat(201)] {
        assert_eq!(site.post(&form(reason)).await?.status, 400, "{reason}");
    }
    assert_eq!(site.post(&form("x").replace(&secret, "0")).await?.status, 403, "no secret of ours");
    let markup = "%3C%2Ftd%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%3Cimg+src%3Dx%3E%E2%80%AE";
    assert_eq!(site.post(&form(markup)).await?.status, 303);
    let kept = taken.snapshot().await?.paused;
    assert_eq!(kept.as_deref(), Some("</td><script>alert(1)</script><img src=x>\u{202e}"));
    let mut news = site.stream("/live?of=name&n=taken").await?;
    let all = news.until(|all| all.contains("alert(1)")).await?;
    let page = site.get("/name?n=taken").await?.body;
    assert!(page.contains("alert(1)"), "{page}");
    for (body, scripts) in [(all, 0), (page, 1)] {
        assert_eq!((body.matches("<script").count(), body.matches("<img").count()), (scripts, 0));
        assert!(!body.contains('\u{202e}'), "a character that turns the line around: {body}");
    }
    assert!(!site.get("/changes").await?.body.contains("<img"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_the_strict_policy_and_no_page_needs_more() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let _permit = seinpaal.mutex("one").lock().await?;
    let site = Site::open(seinpaal, Options::default()).await?;
    for page in
        ["/", "/queues", "/changes", "/name?n=one", "/nowhere", "/metrics", "/assets/script.js"]
    {
        let answer = site.get(page).await?;
        let policy = answer.header("content-security-policy").ok_or(page)?;
        assert!(
            policy.starts_with("default-src 'self';") && !policy.contains("unsafe"),
            "{page}: {policy}"
        );
        for inline in [" style=", " onclick=", " onload=", "javascript:"] {
            assert!(!answer.body.contains(inline), "{page}: {inline}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_request_is_refused() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site =
        Site::open(seinpaal.clone(), Options { allow_actions: true, ..Options::default() }).await?;
    let long = "x".repeat(600);
    let cases: &[(&str, &str, u16)] = &[
        ("/", "Host: evil.example", 421),
        ("/", "Host: localhost.evil.example", 421),
        ("/live?of=names", "Host: 127.0.0.1.evil.example", 421),
        ("/name", "Host: localhost", 400),
        ("/name?n=", "Host: localhost", 400),
        ("/name?n=a%00b", "Host: localhost", 400),
        ("/name?n=a%0Ab", "Host: localhost", 400),
        ("/name?n=%FF%FE", "Host: localhost", 200),
        (&format!("/name?n={long}"), "Host: localhost", 400),
        ("/live?of=everything", "Host: localhost", 400),
        ("/live", "Host: localhost", 400),
        ("/confirm?do=delete&n=a", "Host: localhost", 400),
        ("/confirm?do=evict&n=a&t=..%2F", "Host: localhost", 400),
        ("/confirm?do=evict&n=a", "Host: localhost", 400),
        ("/confirm?do=evict&n=a&t=%3Cb%3E", "Host: localhost", 400),
        ("/confirm?do=cancel&n=a&t=-1", "Host: localhost", 400),
        ("/?page=99999999999999999999&sort=%3Cb%3E", "Host: localhost", 200),
        ("/assets/..%2F..%2FCargo.toml", "Host: localhost", 404),
        ("/assets/%2e%2e/lib.rs", "Host: localhost", 404),
    ];
    for (address, host, status) in cases {
        let answer = site
            .ask(&format!("GET {address} HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n"))
            .await?;
        assert_eq!(answer.status, *status, "{address} with {host}");
    }
    let pauses = |headers: &str, body: &str| {
        format!(
            "POST /act HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let secret = csrf(&site.get("/confirm?do=pause&n=a").await?.body)?;
    let body = format!("do=pause&n=a&reason=x&csrf={secret}");
    for headers in
        ["Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"]
    {
        assert_eq!(site.ask(&pauses(headers, &body)).await?.status, 403, "{headers}");
    }
    assert_eq!(site.ask(&pauses("", "do=pause&n=a&reason=x")).await?.status, 403, "no secret");
    let huge = format!("{body}&more={}", "x".repeat(20_000));
    assert_eq!(site.ask(&pauses("", &huge)).await?.status, 413);
    assert!(seinpaal.semaphore("a").snapshot().await?.paused.is_none());
    assert_eq!(site.ask(&pauses("Origin: http://localhost\r\n", &body)).await?.status, 303);
    assert_eq!(seinpaal.semaphore("a").snapshot().await?.paused.as_deref(), Some("x"));
    Ok(())
}

/// docs/internals/tests/web.md describes these requests.
#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_request_is_refused_before_any_page_sees_it() -> Outcome {
    let options = Options { allow_actions: true, api: true, ..Options::default() };
    let site = Site::open(Seinpaal::in_memory(), options).await?;
    let headers: String = (0..1000).map(|at| format!("X-{at}: a\r\n")).collect();
    let (long, spaces) = ("a".repeat(70_000), " ".repeat(5_000_000));
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let api = "POST /v1/names/a/acquire HTTP/1.1\r\nHost: localhost\r\n";
    let cases = [
        ("GET / HTTP/1.1\r\n".to_owned(), 421),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n".to_owned(), 421),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n".to_owned(), 421),
        ("TRACE / HTTP/1.1\r\nHost: localhost\r\n".to_owned(), 405),
        ("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n".to_owned(), 405),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}{long}\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}"), 431),
        (format!("GET /?q={long} HTTP/1.1\r\nHost: localhost\r\n"), 431),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n".to_owned(), 400),
        (format!("POST /act HTTP/1.1\r\nHost: localhost\r\n{form}Content-Length: 5\r\nContent-Length: 6\r\n"), 400),
        ("POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n".to_owned(), 415),
        (format!("{api}Content-Type: text/plain\r\nContent-Length: 0\r\n"), 415),
    ];
    for (head, status) in &cases {
        let answer = site.ask(&format!("{head}Connection: close\r\n\r\n")).await?;
        assert_eq!(answer.status, *status, "{}", &head[..head.len().min(90)]);
    }
    let json = format!("{api}Content-Type: application/json\r\nConnection: close\r\n");
    for (body, status) in [("[".repeat(40_000), 400), (spaces, 413)] {
        let length = body.len();
        // The server need not read a body that it refuses for its length, so sending the rest may
        // fail.
        let answer = site.ask(&format!("{json}Content-Length: {length}\r\n\r\n{body}")).await;
        match answer {
            Ok(answer) => assert_eq!(answer.status, status, "{length} bytes"),
            Err(error) => assert_eq!(status, 413, "{error}"),
        }
    }
    assert_eq!(site.get("/").await?.status, 200, "and it goes on");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_can_be_changed_unless_actions_are_allowed() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.mutex("kept").lock().await?;
    let site = Site::open(seinpaal, Options::default()).await?;
    let page = site.get("/name?n=kept").await?.body;
    assert!(!page.contains("/confirm"), "no buttons rather than dead ones: {page}");
    let ticket = permit.ticket();
    let confirm = format!("/confirm?do=evict&n=kept&t={ticket}");
    assert_eq!(site.get(&confirm).await?.status, 403);
    assert!(permit.is_held());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_needed_and_says_what_may_be_done() -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("tokens");
    std::fs::write(&path, "read aaaaaaaaaaaaaaaa\noperate bbbbbbbbbbbbbbbb ana\n")?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644))?;
    assert!(seinpaal_serve::Tokens::read(&path).is_err(), "others can read it");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    let tokens = Some(seinpaal_serve::Tokens::read(&path)?);
    let options = Options { tokens, allow_actions: true, ..Options::default() };
    let site = Site::open(Seinpaal::in_memory(), options).await?;
    let with = |header: &str| {
        format!("GET /name?n=a HTTP/1.1\r\nHost: localhost\r\n{header}Connection: close\r\n\r\n")
    };
    assert_eq!(site.ask(&with("")).await?.status, 401);
    assert_eq!(site.ask(&with("Authorization: Bearer aaaaaaaaaaaaaaab\r\n")).await?.status, 401);
    let reader = site.ask(&with("Authorization: Bearer aaaaaaaaaaaaaaaa\r\n")).await?;
    assert!(reader.status == 200 && !reader.body.contains("/confirm"), "{}", reader.body);
    // A browser sends any user name, and the token as the password.
    let operator = site.ask(&with("Authorization: Basic eDpiYmJiYmJiYmJiYmJiYmJi\r\n")).await?;
    assert!(operator.body.contains("/confirm") && operator.body.contains("Operate as ana"));
    Ok(())
}
