//! Tests of the HTTP API over a real port.

#[path = "api/audit.rs"]
mod audit;
#[path = "api/broken_off.rs"]
mod broken_off;
#[path = "api/document.rs"]
mod document;
mod support;

use seinpaal::Seinpaal;
use serde_json::{Value, json};
use support::{object, problem, programs, until};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn a_permit_is_taken_renewed_and_given_back_by_its_ticket() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let body = r#"{"limit": 2, "permits": 2, "labels": {"job": "7"}}"#;
    let taken = object(&site.call("POST", "/v1/names/gpus/acquire", body).await?);
    assert_eq!((&taken["limit"], &taken["permits"]), (&2.into(), &2.into()), "{taken}");
    let ticket = taken["ticket"].as_str().ok_or("no ticket")?;
    let seen = object(&site.get("/v1/names/gpus").await?);
    assert_eq!(seen["holders"][0]["labels"]["job"], "7", "{seen}");
    assert_eq!(seen["holders"][0]["ticket"], ticket, "{seen}");
    let renew = format!("/v1/names/gpus/tickets/{ticket}/renew");
    let renewed = site.call("POST", &renew, "{\"ttl_ms\": 60000}").await?;
    let left = object(&renewed)["valid_for_ms"].as_u64().ok_or("no lease")?;
    assert!((50_000..=60_000).contains(&left), "{left}");
    let address = format!("/v1/names/gpus/tickets/{ticket}");
    assert_eq!(site.call("DELETE", &address, "").await?.status, 204);
    until(&seinpaal, "gpus", 0, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn contention_is_429_and_an_impossible_request_is_not() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let _held = seinpaal.semaphore("full").limit(1).acquire().await?;
    let busy = site.call("POST", "/v1/names/full/acquire", r#"{"limit": 1}"#).await?;
    assert_eq!(problem(&busy), (429, "busy".to_owned()));
    assert_eq!(busy.header("retry-after"), Some("1"));
    let late =
        site.call("POST", "/v1/names/full/acquire", r#"{"limit": 1, "wait_ms": 50}"#).await?;
    assert_eq!(problem(&late), (429, "timed-out".to_owned()));
    let other = site.call("POST", "/v1/names/full/acquire", r#"{"limit": 5}"#).await?;
    assert_eq!(problem(&other), (409, "other-limit".to_owned()));
    let kind = site.call("POST", "/v1/names/full/acquire", r#"{"kind": "read"}"#).await?;
    assert_eq!(problem(&kind), (409, "other-kind".to_owned()));
    let many = site.call("POST", "/v1/names/full/acquire", r#"{"limit": 1, "permits": 2}"#).await?;
    assert_eq!(problem(&many), (409, "above-the-limit".to_owned()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_is_told_before_anything_is_written() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let bodies = [
        "{",
        "[]",
        r#"{"limits": 1}"#,
        r#"{"limit": -1}"#,
        r#"{"ttl_ms": 1}"#,
        r#"{"permits": 0}"#,
        r#"{"wait_ms": 99999999999}"#,
        r#"{"priority": 1000}"#,
        r#"{"kind": "mutex", "limit": 3}"#,
        r#"{"labels": {"a=b": "c"}}"#,
    ];
    for body in bodies {
        let refused = site.call("POST", "/v1/names/new/acquire", body).await?;
        assert_eq!(problem(&refused), (400, "bad-request".to_owned()), "{body}: {}", refused.body);
    }
    let long = format!("/v1/names/{}/acquire", "x".repeat(513));
    assert_eq!(site.call("POST", &long, "{}").await?.status, 400);
    assert_eq!(site.call("GET", "/v1/names/%00", "").await?.status, 400);
    assert_eq!(site.call("GET", "/v1/names/%ff", "").await?.status, 400);
    assert_eq!(problem(&site.call("GET", "/v1/nothing", "").await?), (404, "not-found".to_owned()));
    let method = site.call("PATCH", "/v1/names/new", "").await?;
    assert_eq!(problem(&method), (405, "method-not-allowed".to_owned()));
    assert_eq!(object(&site.get("/v1/names").await?)["names"], Value::Array(vec![]));
    for second in
        [r#""priority": 101"#, r#""deliveries": 0"#, r#""group": """#, r#""dedup": "\u0000""#]
    {
        let body = format!(r#"{{"items": [{{"payload": "good"}}, {{{second}}}]}}"#);
        let refused = site.call("POST", "/v1/queues/new/items", &body).await?;
        assert_eq!(problem(&refused), (400, "bad-request".to_owned()), "{body}: {}", refused.body);
    }
    let high = site.get("/v1/queues/new/items?state=dead&after=x:0:9007199254740993:").await?;
    assert_eq!(problem(&high), (400, "bad-request".to_owned()));
    assert_eq!(object(&site.get("/v1/queues").await?)["queues"], Value::Array(vec![]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_while_it_waits_leaves_the_line() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let _held = seinpaal.semaphore("one").limit(1).acquire().await?;
    let body = r#"{"limit": 1, "wait_ms": 3600000}"#;
    let waits = site.begin("POST", "/v1/names/one/acquire", body).await?;
    until(&seinpaal, "one", 1, 1).await?;
    drop(waits);
    until(&seinpaal, "one", 1, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_lasts_as_long_as_its_connection_and_tells_of_a_loss() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let mut holds = site.begin("POST", "/v1/names/one/hold", r#"{"limit": 1}"#).await?;
    holds.until(|text| text.contains("\"event\":\"acquired\"")).await?;
    let mut next =
        site.begin("POST", "/v1/names/one/hold", r#"{"limit": 1, "wait_ms": 600000}"#).await?;
    until(&seinpaal, "one", 1, 1).await?;
    drop(holds);
    next.until(|text| text.contains("\"event\":\"acquired\"")).await?;
    let seen = seinpaal.semaphore("one").snapshot().await?;
    seinpaal.semaphore("one").evict(seen.holders[0].ticket).await?;
    next.until(|text| text.contains("\"event\":\"lost\"")).await?;
    until(&seinpaal, "one", 0, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_gets_the_same_permit_and_another_body_under_it_is_refused() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let ask = |key, body| site.call_with_key(key, "/v1/names/one/acquire", body);
    let (first, second) = tokio::join!(ask("k1", r#"{"limit": 3}"#), ask("k1", r#"{"limit": 3}"#));
    let (first, second) = (object(&first?), object(&second?));
    assert_eq!(first["ticket"], second["ticket"]);
    assert_eq!(problem(&ask("k1", r#"{"limit": 4}"#).await?), (409, "key-in-use".to_owned()));
    assert_ne!(object(&ask("k2", r#"{"limit": 3}"#).await?)["ticket"], first["ticket"]);
    until(&seinpaal, "one", 2, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_is_told_why_and_events_tell_of_changes_only() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let held = seinpaal.semaphore("one").limit(1).acquire().await?;
    let _waits = support::waiting(seinpaal.semaphore("one").limit(1).acquire()).await;
    let seen = object(&site.get("/v1/names/one").await?);
    let waiter = seen["waiters"][0]["ticket"].as_str().ok_or("no waiter")?;
    let why = object(&site.get(&format!("/v1/names/one/tickets/{waiter}")).await?);
    assert_eq!(
        (&why["standing"], &why["reasons"][0]["reason"]),
        (&"waits".into(), &"held".into()),
        "{why}"
    );
    let mut events = site.stream("/v1/names/one/events").await?;
    events.until(|text| text.contains("event: shown") && text.contains("\"waiters\":[{")).await?;
    held.release().await?;
    let next = events.until(|text| text.contains("\"waiters\":[]")).await?;
    assert_eq!(next.matches("event: shown").count(), 1, "{next}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_steers_and_each_change_is_noted() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let held = seinpaal.semaphore("gpus").limit(2).acquire().await?;
    assert_eq!(site.call("PUT", "/v1/names/gpus/limit", r#"{"limit": 7}"#).await?.status, 204);
    assert_eq!(
        site.call("PUT", "/v1/names/gpus/pause", r#"{"reason": "driver"}"#).await?.status,
        204
    );
    let seen = object(&site.get("/v1/names/gpus").await?);
    assert_eq!((&seen["limit"], &seen["state"]), (&7.into(), &"paused".into()), "{seen}");
    assert_eq!(site.call("DELETE", "/v1/names/gpus/pause", "").await?.status, 204);
    assert_eq!(site.call("DELETE", "/v1/names/gpus/limit", "").await?.status, 204);
    let evict = format!("/v1/names/gpus/tickets/{}/evict", held.ticket());
    assert_eq!(site.call("POST", &evict, r#"{"reason": "hangs"}"#).await?.status, 204);
    until(&seinpaal, "gpus", 0, 0).await?;
    let changes = support::text(&site.get("/changes").await?.body);
    for word in ["limit 7", "pause", "driver", "resume", "limit unset", "evict", "hangs"] {
        assert!(changes.contains(word), "{word}: {changes}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_pushed_taken_renewed_and_finished() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let body = r#"{"items": [{"payload": "to: ann"}, {"payload": "/wA=", "encoding": "base64", "priority": -1}, {"payload": "x", "deliveries": 1, "priority": -2}]}"#;
    let pushed = object(&site.call("POST", "/v1/queues/mails/items", body).await?);
    assert_eq!(pushed["items"].as_array().map(Vec::len), Some(3), "{pushed}");
    let mut deliveries = Vec::new();
    for _ in 0..3 {
        let popped =
            object(&site.call("POST", "/v1/queues/mails/pop", r#"{"ttl_ms": 60000}"#).await?);
        deliveries.push(popped["items"][0].clone());
    }
    let said = [0, 1].map(|at| [&deliveries[at]["payload"], &deliveries[at]["encoding"]]);
    assert_eq!(said, [[&json!("to: ann"), &json!("text")], [&json!("/wA="), &json!("base64")]]);
    let order = async |at: usize, what: &str, body: &str| {
        let word = deliveries[at]["delivery"].as_str().unwrap_or_default();
        site.call("POST", &format!("/v1/deliveries/{word}/{what}"), body).await
    };
    assert_eq!(order(0, "renew", "{}").await?.status, 204);
    assert_eq!(order(0, "acknowledge", "").await?.status, 204);
    assert_eq!(problem(&order(0, "acknowledge", "").await?), (410, "lost".to_owned()));
    assert_eq!(order(1, "give-back", r#"{"delay_ms": 3600000}"#).await?.status, 204);
    assert_eq!(order(2, "fail", r#"{"reason": "no route"}"#).await?.status, 204);
    let seen = object(&site.get("/v1/queues/mails").await?);
    let numbers = ["ready", "delayed", "in_work", "dead"].map(|name| seen[name].as_u64());
    assert_eq!(numbers, [Some(0), Some(1), Some(0), Some(1)], "{seen}");
    let empty = site.call("POST", "/v1/queues/mails/pop", "{}").await?;
    assert_eq!(problem(&empty), (429, "timed-out".to_owned()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_whose_worker_does_not_renew_is_delivered_again() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    site.call("POST", "/v1/queues/mails/items", r#"{"items": [{"payload": "a"}]}"#).await?;
    let pop = || site.call("POST", "/v1/queues/mails/pop", r#"{"ttl_ms": 200, "wait_ms": 60000}"#);
    assert_eq!(object(&pop().await?)["items"][0]["attempt"], 1);
    assert_eq!(object(&pop().await?)["items"][0]["attempt"], 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_in_pages_that_lack_nothing() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    for name in ["c", "a", "b/1", "b/2", "d"] {
        seinpaal.semaphore(name).set_limit(1).await?;
    }
    let site = programs(&seinpaal).await?;
    let (mut names, mut after) = (Vec::new(), String::new());
    loop {
        let page = object(&site.get(&format!("/v1/names?rows=2{after}")).await?);
        for row in page["names"].as_array().ok_or("no rows")? {
            names.push(row["name"].as_str().unwrap_or_default().to_owned());
        }
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={}", next.replace('/', "%2F"));
    }
    assert_eq!(names, ["a", "b/1", "b/2", "c", "d"]);
    let some = object(&site.get("/v1/names?prefix=b%2F").await?);
    assert_eq!(some["names"].as_array().map(Vec::len), Some(2));
    assert_eq!(object(&site.get("/v1/names/b%2F1").await?)["name"], "b/1");
    assert_eq!(problem(&site.get("/v1/names?rows=0").await?).0, 400);
    Ok(())
}
