//! Tests of asks to hand over, and of slots with names: on the pages and by the API, over a store
//! in memory and over Redis.

mod support;

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use serde_json::json;
use support::{Site, csrf, object, problem, programs, text};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_is_asked_from_its_page_is_told_and_the_page_says_by_whom_and_why() -> Outcome
{
    let redis = seinpaal_rig::RedisServer::start();
    for seinpaal in [Seinpaal::in_memory(), Seinpaal::connect(&redis.url("")).await?] {
        let taken = seinpaal.mutex("taken");
        let permit = taken.lock().await?;
        let options = Options { allow_actions: true, ..Options::default() };
        let site = Site::open(seinpaal.clone(), options).await?;
        let page = site.get("/name?n=taken").await?.body;
        let link = format!("/confirm?do=ask&amp;n=taken&amp;t={}", permit.ticket());
        assert!(page.contains(&link), "{page}");
        let confirm = site.get(&link.replace("&amp;", "&")).await?.body;
        assert!(text(&confirm).contains("Nothing is ended."), "{confirm}");
        let form = format!("do=ask&n=taken&t={}&csrf={}", permit.ticket(), csrf(&confirm)?);
        assert_eq!(site.post(&form).await?.status, 400, "a reason is needed");
        let answer = site.post(&format!("{form}&reason=a+release+is+due")).await?;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let ask = permit.asked().await;
        assert!(ask.by().starts_with("somebody on ") && !ask.by().contains("this machine"));
        assert_eq!((ask.reason(), permit.is_held()), ("a release is due", true));
        let back = text(&site.get(answer.header("location").ok_or("no location")?).await?.body);
        assert!(back.contains("Asked. Its holder is told"), "{back}");
        assert!(back.contains(&format!("ask {}", permit.ticket())), "among the changes: {back}");
        let told = format!("Was asked to hand over: {} asked", ask.by());
        let mut news = site.stream("/live?of=name&n=taken").await?;
        news.until(|all| all.contains(&told) && all.contains("a release is due")).await?;
        let page = text(&site.get("/name?n=taken").await?.body);
        assert!(page.contains(&told) && page.contains("a release is due"), "{page}");
        permit.release().await?;
        assert_eq!(site.post(&format!("{form}&reason=gone")).await?.status, 409, "it is over");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_that_have_names_are_shown_by_them() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let boards = seinpaal.semaphore("boards");
    boards.name_slots(["GPU-0", "board <b>"]).await?;
    let _held = boards.acquire().slot("board <b>").await?;
    let _waits = support::waiting(boards.acquire().slot("board <b>")).await;
    let site = Site::open(seinpaal, Options::default()).await?;
    let page = site.get("/name?n=boards").await?.body;
    assert!(page.contains("wants 1, of them board &#60;b&#62;"), "{page}");
    assert!(page.contains("data-label=\"slot\">board &#60;b&#62;</th>"), "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_is_asked_to_hand_over_and_everybody_reads_by_whom_and_why() -> Outcome {
    let redis = seinpaal_rig::RedisServer::start();
    for seinpaal in [Seinpaal::in_memory(), Seinpaal::connect(&redis.url("")).await?] {
        let site = programs(&seinpaal).await?;
        let gpus = seinpaal.semaphore("gpus").limit(1);
        let held = gpus.acquire().await?;
        let _waits = support::waiting(gpus.acquire()).await;
        let waiter = gpus.snapshot().await?.waiters[0].ticket;
        let ask = |ticket: String, body: &'static str| {
            let (site, address) = (&site, format!("/v1/names/gpus/tickets/{ticket}/ask"));
            async move { site.call("POST", &address, body).await }
        };
        let markup = r#"{"reason": "<b>a release</b> is due"}"#;
        assert_eq!(ask(held.ticket().to_string(), markup).await?.status, 204);
        let heard = held.asked().await;
        assert_eq!((heard.reason(), held.is_held()), ("<b>a release</b> is due", true));
        let seen = object(&site.get("/v1/names/gpus").await?);
        let asked = &seen["holders"][0]["asked"][0];
        assert_eq!(
            (asked["by"].as_str(), asked["reason"].as_str()),
            (Some(heard.by()), Some(heard.reason()))
        );
        let changes = support::text(&site.get("/changes").await?.body);
        assert!(changes.contains(&format!("ask {}", held.ticket())), "{changes}");
        for body in [
            "{}",
            r#"{"reason": " "}"#,
            r#"{"reason": "a\u0007"}"#,
            r#"{"reason": "a", "by": "b"}"#,
        ] {
            let refused = ask(held.ticket().to_string(), body).await?;
            assert_eq!(problem(&refused), (400, "bad-request".to_owned()), "{body}");
        }
        let good = r#"{"reason": "x"}"#;
        let waits = ask(waiter.to_string(), good).await?;
        assert_eq!(problem(&waits), (409, "waits".to_owned()));
        let nobody = ask("0".repeat(31) + "7", good).await?;
        assert_eq!(problem(&nobody), (404, "not-found".to_owned()));
        let odd = ask("7".to_owned(), good).await?;
        assert_eq!(problem(&odd), (400, "bad-request".to_owned()));
        gpus.evict(held.ticket()).await?;
        let over = ask(held.ticket().to_string(), good).await?;
        assert_eq!(problem(&over), (410, "ended".to_owned()));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_passes_no_asks_and_keeps_no_names_says_so_and_is_not_called_broken() -> Outcome
{
    let nodes: Vec<_> = (0..3).map(|_| seinpaal_rig::RedisServer::start()).collect();
    let ports: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let url = format!("redis+quorum://{}?restart-guard=off", ports.join(","));
    let seinpaal = Seinpaal::connect(&url).await?;
    let site = programs(&seinpaal).await?;
    let held = seinpaal.mutex("one").lock().await?;
    let ask = format!("/v1/names/one/tickets/{}/ask", held.ticket());
    let refused = site.call("POST", &ask, r#"{"reason": "a release"}"#).await?;
    assert_eq!(problem(&refused), (409, "not-on-this-store".to_owned()));
    assert!(refused.body.contains("a quorum cannot ask a holder"), "{}", refused.body);
    let names = r#"{"slot_names": ["a", "b"]}"#;
    let refused = site.call("PUT", "/v1/names/boards/slots", names).await?;
    assert_eq!(problem(&refused), (409, "not-on-this-store".to_owned()));
    assert!(refused.body.contains("a quorum keeps no names"), "{}", refused.body);
    assert!(held.is_held());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_are_named_wished_for_and_told() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let name = |names: &'static str| site.call("PUT", "/v1/names/boards/slots", names);
    assert_eq!(name(r#"{"slot_names": ["GPU-0", "GPU-1", "board b"]}"#).await?.status, 204);
    let take = |body: &'static str| site.call("POST", "/v1/names/boards/acquire", body);
    let wish = r#"{"slot_names": ["board b", "GPU-0"], "permits": 2}"#;
    let taken = object(&take(wish).await?);
    assert_eq!((&taken["slots"], &taken["limit"]), (&json!([0, 2]), &3.into()), "{taken}");
    assert_eq!(taken["slot_names"], json!(["GPU-0", "board b"]));
    let mut holds = site.begin("POST", "/v1/names/boards/hold", "{}").await?;
    holds.until(|text| text.contains(r#""slot_names":["GPU-1"]"#)).await?;
    let seen = object(&site.get("/v1/names/boards").await?);
    assert_eq!(seen["slot_names"], json!(["GPU-0", "GPU-1", "board b"]), "{seen}");
    let nowhere = take(r#"{"slot_names": ["GPU-9"]}"#).await?;
    assert_eq!(problem(&nowhere), (409, "no-such-slot".to_owned()));
    for body in [
        r#"{"slot_names": ["GPU-0", "GPU-1"]}"#,
        r#"{"slot_names": ["a,b"]}"#,
        r#"{"slot_names": [""]}"#,
        r#"{"slot_names": "GPU-0"}"#,
        r#"{"kind": "mutex", "slot_names": ["GPU-0"]}"#,
    ] {
        assert_eq!(problem(&take(body).await?), (400, "bad-request".to_owned()), "{body}");
    }
    for names in
        [r#"{"slot_names": []}"#, r#"{"slot_names": ["a", "a"]}"#, r#"{"slot_names": [" a"]}"#]
    {
        assert_eq!(problem(&name(names).await?), (400, "bad-request".to_owned()), "{names}");
    }
    let other = name(r#"{"slot_names": ["GPU-1"]}"#).await?;
    assert_eq!(problem(&other), (409, "slots-in-use".to_owned()));
    let changes = support::text(&site.get("/changes").await?.body);
    assert!(changes.contains("slots GPU-0,GPU-1,board b"), "{changes}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permit_without_names_for_its_slots_tells_none_and_a_hold_tells_who_asks() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let taken = object(&site.call("POST", "/v1/names/two/acquire", r#"{"limit": 2}"#).await?);
    assert!(taken.get("slot_names").is_none(), "{taken}");
    let mut holds = site.begin("POST", "/v1/names/one/hold", r#"{"limit": 1}"#).await?;
    let first = holds.until(|text| text.contains("acquired")).await?;
    assert!(!first.contains("slot_names"), "{first}");
    let one = seinpaal.semaphore("one");
    let ticket = one.snapshot().await?.holders[0].ticket;
    one.ask_holder(ticket, "eve", "a \"release\"").await?;
    let told = r#"{"by":"eve","event":"asked","reason":"a \"release\""}"#;
    holds.until(|text| text.contains(told)).await?;
    Ok(())
}
