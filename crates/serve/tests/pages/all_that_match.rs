//! Tests of actions on all items that match, on the page and over HTTP. The items are counted, the
//! action is confirmed, limited to the counted items, and written down.

use std::time::Duration;

use seinpaal::{Queue, Seinpaal};
use seinpaal_serve::Options;

use super::{
    Outcome,
    support::{Site, csrf, object, problem, programs, text},
};

/// More items than a page lists.
const MANY: u32 = 120;

/// Makes dead letters with this group and reason.
async fn dead(queue: &Queue, count: u32, group: &str, reason: &str) -> Outcome {
    for number in 0..count {
        let pushing = queue.push(format!("to: {group} {number}")).group(group).deliveries(1);
        pushing.label("job", &number.to_string()).await?;
        queue.pop().await?.fail(reason, Duration::ZERO).await?;
    }
    Ok(())
}

async fn with_actions(seinpaal: &Seinpaal) -> Result<Site, Box<dyn std::error::Error>> {
    Site::open(seinpaal.clone(), Options { allow_actions: true, ..Options::default() }).await
}

/// Returns the value of a hidden field of a form.
fn hidden(page: &str, name: &str) -> Result<String, &'static str> {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).ok_or("no such field")?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_match_are_replayed_and_not_those_on_the_page_or_those_that_died_later() -> Outcome
{
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    dead(&mails, MANY, "acme", "no route to host").await?;
    dead(&mails, 2, "other", "timed out").await?;
    let site = with_actions(&seinpaal).await?;
    let page = site.get("/queue?n=mails&match=NO+route").await?.body;
    assert!(text(&page).contains("120 of 122 match"), "{}", text(&page));
    assert!(page.contains("Replay all 120 that match…") && !page.contains("timed out"), "{page}");
    assert_eq!(page.matches("do=replay&amp;").count(), 50, "rows of the page");
    let confirm = site.get("/confirm?do=replay-all&n=mails&match=NO+route").await?.body;
    let asked = text(&confirm);
    assert!(
        asked.contains("Replay all 120 items that match “NO route” and are dead in "),
        "{asked}"
    );
    dead(&mails, 1, "acme", "no route to host, again").await?;
    let (secret, counted) = (csrf(&confirm)?, hidden(&confirm, "counted")?);
    let form = format!("do=replay-all&n=mails&match=NO+route&counted={counted}&csrf={secret}");
    let done = site.post(&form).await?;
    let back = done.header("location").ok_or("no location")?.to_owned();
    assert_eq!((done.status, back.contains("match=NO%20route")), (303, true), "{back}");
    let seen = mails.snapshot().await?;
    assert_eq!((seen.ready, seen.dead), (MANY, 3), "one died later, and two do not match");
    let page = text(&site.get(&back).await?.body);
    assert!(page.contains("Replayed. It was 120 items."), "{page}");
    assert!(page.contains("replay-all “NO route”: 120 items"), "among the changes: {page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn to_drop_or_cancel_many_the_name_is_typed_and_a_reason_given() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    dead(&mails, 3, "acme", "no route to host").await?;
    for group in ["acme", "acme", "other"] {
        mails.push("x").group(group).await?;
    }
    let working = [mails.pop().await?, mails.pop().await?, mails.pop().await?];
    let site = with_actions(&seinpaal).await?;
    for (word, by, left) in [("drop-all", "job%3D1", (2, 3)), ("cancel-all", "acme", (2, 1))] {
        let confirm = site.get(&format!("/confirm?do={word}&n=mails&match={by}")).await?.body;
        let (secret, counted) = (csrf(&confirm)?, hidden(&confirm, "counted")?);
        let form = format!("do={word}&n=mails&match={by}&counted={counted}&csrf={secret}");
        for wrong in ["", "&typed=mails", "&reason=x", "&reason=x&typed=mail"] {
            assert_eq!(site.post(&format!("{form}{wrong}")).await?.status, 400, "{word}{wrong}");
        }
        assert_eq!(site.post(&format!("{form}&reason=x&typed=mails")).await?.status, 303);
        let seen = mails.snapshot().await?;
        assert_eq!((seen.dead, seen.in_work), left, "{word}");
    }
    let nothing = site.get("/confirm?do=drop-all&n=mails&match=nobody").await?;
    assert!(nothing.status == 400 && nothing.body.contains("nothing that matches"));
    let foreign = site.get("/queue?n=mails&match=%3Cb%3E%22").await?.body;
    assert!(foreign.contains("value=\"&#60;b&#62;&#34;\""), "{foreign}");
    drop(working);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_one_item_or_all_that_match_are_steered_and_each_change_is_noted() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let mails = seinpaal.queue("mails");
    dead(&mails, 4, "acme", "no route to host").await?;
    dead(&mails, 2, "other", "timed out").await?;
    let listed =
        object(&site.get("/v1/queues/mails/items?state=dead&matching=timed&rows=5").await?);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "of the first five: {listed}");
    let after = listed["next"].as_str().ok_or("no next part")?;
    let address = format!("/v1/queues/mails/items?state=dead&matching=timed&after={after}");
    let rest = object(&site.get(&address).await?);
    assert_eq!(rest["items"].as_array().map(Vec::len), Some(1), "{rest}");
    assert!(rest["next"].is_null(), "{rest}");
    let (one, other) = (&listed["items"][0]["id"], &rest["items"][0]["id"]);
    let dead = |what: &str| format!("/v1/queues/mails/dead/{what}");
    let because = r#"{"reason": "hangs"}"#;
    assert_eq!(site.call("POST", &dead(&format!("{one}/replay")), "").await?.status, 204);
    assert_eq!(site.call("POST", &dead(&format!("{other}/drop")), because).await?.status, 204);
    let gone = site.call("POST", &dead(&format!("{other}/drop")), because).await?;
    assert_eq!(problem(&gone), (404, "not-found".to_owned()));
    let matching = r#"{"matching": "ROUTE", "reason": "the network is back"}"#;
    let replayed = site.call("POST", &dead("replay"), matching).await?;
    assert_eq!((replayed.status, &object(&replayed)["items"]), (200, &4.into()));
    let _working = [mails.pop().await?, mails.pop().await?];
    let in_work = r#"{"state": "in-work", "reason": "hangs"}"#;
    let cancelled = site.call("POST", "/v1/queues/mails/items/cancel", in_work).await?;
    assert_eq!(object(&cancelled)["items"], 2);
    let next = mails.pop().await?;
    let cancel = format!("/v1/queues/mails/items/{}/cancel", next.id());
    assert_eq!(site.call("POST", &cancel, because).await?.status, 204);
    let purged = site.call("POST", "/v1/queues/mails/purge", because).await?;
    assert_eq!(object(&purged)["items"], 2);
    let empty = site.call("POST", &dead("drop"), r#"{"reason": " "}"#).await?;
    assert_eq!(problem(&empty), (400, "bad-request".to_owned()));
    let changes = text(&site.get("/changes").await?.body);
    for words in [
        "replay-all “ROUTE”: 4 items",
        "the network is back",
        "cancel-all in-work: 2 items",
        "purge: 2 items",
    ] {
        assert!(changes.contains(words), "{words}: {changes}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_is_neither_listed_nor_found() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let secrets = seinpaal.queue("secrets");
    dead(&secrets, 1, "acme", "no").await?;
    let site = Site::open(seinpaal, Options { payloads: false, ..Options::default() }).await?;
    let listed = site.get("/v1/queues/secrets/items?state=dead").await?.body;
    assert!(listed.contains("acme") && !listed.contains("to: acme"), "{listed}");
    let found = object(&site.get("/v1/queues/secrets/items?state=dead&matching=to:").await?);
    assert_eq!(found["items"].as_array().map(Vec::len), Some(0), "{found}");
    let page = text(&site.get("/queue?n=secrets&match=to:").await?.body);
    assert!(page.contains("None of them matches."), "{page}");
    let refused = site.call("POST", "/v1/queues/secrets/dead/replay", r#"{"reason": "x"}"#).await?;
    assert_eq!(problem(&refused).0, 403, "without the option nothing is changed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_or_a_count_that_nobody_knows_is_refused_and_nothing_is_cancelled() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    mails.push("x").await?;
    mails.push("y").await?;
    let _working = mails.pop().await?;
    let site = with_actions(&seinpaal).await?;
    let page = site.get("/confirm?do=cancel-all&n=mails&state=in_work").await?;
    assert_eq!(page.status, 400, "a state that nobody knows");
    let confirm = site.get("/confirm?do=cancel-all&n=mails&state=ready").await?.body;
    let (secret, counted) = (csrf(&confirm)?, hidden(&confirm, "counted")?);
    let form = format!("do=cancel-all&n=mails&csrf={secret}&reason=x&typed=mails");
    for (wrong, status) in [
        (format!("&state=in_work&counted={counted}"), 400),
        ("&state=ready&counted=x".to_owned(), 400),
        ("&state=ready&counted=".to_owned(), 400),
        ("&state=ready&counted=77".to_owned(), 409),
    ] {
        assert_eq!(site.post(&format!("{form}{wrong}")).await?.status, status, "{wrong}");
    }
    let seen = mails.snapshot().await?;
    assert_eq!((seen.ready, seen.in_work), (1, 1));
    let good = format!("{form}&state=ready&counted={counted}");
    assert_eq!(site.post(&good).await?.status, 303);
    assert_eq!(mails.snapshot().await?.ready, 0);
    Ok(())
}
