//! Tests of slots with names, on the pages and by the API.

mod support;

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use serde_json::json;
use support::{Site, object, problem, programs};

type Outcome = Result<(), Box<dyn std::error::Error>>;

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
async fn a_store_that_keeps_no_names_says_so_and_is_not_called_broken() -> Outcome {
    let nodes: Vec<_> = (0..3).map(|_| seinpaal_rig::RedisServer::start()).collect();
    let ports: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let url = format!("redis+quorum://{}?restart-guard=off", ports.join(","));
    let seinpaal = Seinpaal::connect(&url).await?;
    let site = programs(&seinpaal).await?;
    let names = r#"{"slot_names": ["a", "b"]}"#;
    let refused = site.call("PUT", "/v1/names/boards/slots", names).await?;
    assert_eq!(problem(&refused), (409, "not-on-this-store".to_owned()));
    assert!(refused.body.contains("a quorum keeps no names"), "{}", refused.body);
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
async fn a_permit_without_names_for_its_slots_tells_none() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let taken = object(&site.call("POST", "/v1/names/two/acquire", r#"{"limit": 2}"#).await?);
    assert!(taken.get("slot_names").is_none(), "{taken}");
    let mut holds = site.begin("POST", "/v1/names/one/hold", r#"{"limit": 1}"#).await?;
    let first = holds.until(|text| text.contains("acquired")).await?;
    assert!(!first.contains("slot_names"), "{first}");
    Ok(())
}
