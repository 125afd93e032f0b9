//! Tests of ready and delayed items: on the page of their queue, on pages of their own, and over
//! HTTP. Other tests cancel all of them at once.

use std::time::Duration;

use seinpaal::{Queue, Seinpaal};
use seinpaal_serve::Options;

use super::{
    Outcome,
    support::{Site, csrf, object, problem, programs, text},
};

/// Pushes ready items of two groups, and one item without a group.
async fn ready(queue: &Queue, count: u32) -> Outcome {
    for number in 0..count {
        let group = if number % 2 == 0 { "acme" } else { "other" };
        queue.push(format!("to: {group} {number}")).group(group).label("job", "42").await?;
    }
    queue.push("alone").await?;
    Ok(())
}

fn rows(page: &str) -> usize {
    page.matches("do=cancel&amp;").count()
}

/// Returns the address of the link with these words.
fn link(page: &str, words: &str) -> Option<String> {
    let (before, _) = page.split_once(&format!("\">{words}</a>"))?;
    let (_, address) = before.rsplit_once("href=\"")?;
    Some(address.replace("&amp;", "&").replace("&#38;", "&"))
}

async fn with_actions(seinpaal: &Seinpaal) -> Result<Site, Box<dyn std::error::Error>> {
    Site::open(seinpaal.clone(), Options { allow_actions: true, ..Options::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_ready_or_delayed_is_shown_and_listed_page_by_page() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    ready(&mails, 120).await?;
    mails.push("tomorrow").delay(Duration::from_secs(86_400)).label("job", "43").await?;
    let site = with_actions(&seinpaal).await?;
    let page = site.get("/queue?n=mails").await?.body;
    let shown = text(&page);
    assert!(shown.contains("Ready 121") && shown.contains("Delayed 1"), "{shown}");
    assert!(shown.contains("tomorrow") && shown.contains("job=43"), "{shown}");
    assert!(shown.contains("71 more"), "{shown}");
    assert_eq!(rows(&page), 51, "50 that are ready and one that is delayed");
    let mut address = link(&page, "List all of them").ok_or("no link to the list")?;
    let mut counts = Vec::new();
    for _ in 0..4 {
        let list = site.get(&address).await?.body;
        assert!(list.contains("state=ready") && !text(&list).contains("tomorrow"), "{list}");
        counts.push(rows(&list));
        let Some(next) = link(&list, "Next") else { break };
        address = next;
    }
    assert_eq!(counts, [50, 50, 21]);
    let last = text(&site.get(&address).await?.body);
    assert!(last.contains("alone") && last.contains("to: other 119"), "{last}");
    let empty = text(&site.get("/queue?n=mails&state=in-work").await?.body);
    assert!(empty.contains("Nothing is in work."), "{empty}");
    let foreign = site.get("/queue?n=mails&state=ready&after=%3Cscript%3E").await?;
    assert_eq!((foreign.status, rows(&foreign.body)), (200, 50), "a bad place is the first");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_wait_and_match_are_cancelled_and_those_in_work_or_pushed_later_stay() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let mails = seinpaal.queue("mails");
    ready(&mails, 120).await?;
    let site = with_actions(&seinpaal).await?;
    let (away, _other) = (mails.pop().await?, mails.pop().await?);
    mails.push("once more").group("acme").await?;
    let page = site.get("/queue?n=mails&match=ACME").await?.body;
    assert!(text(&page).contains("60 of 120 match"), "{}", text(&page));
    assert!(page.contains("Cancel all 60 that match…"), "{page}");
    let confirm = site.get("/confirm?do=cancel-all&state=ready&n=mails&match=ACME").await?.body;
    let asked = text(&confirm);
    assert!(asked.contains("Cancel all 60 items that match “ACME” and are ready in "), "{asked}");
    assert!(asked.contains("Items that a worker takes in the meantime stay"), "{asked}");
    let taken = mails.pop().await?;
    assert_eq!(taken.group(), Some("acme"));
    mails.push("late").group("acme").await?;
    // It was not there when the items were counted, and its number is lower than theirs.
    away.give_back(Duration::ZERO).await?;
    let field = confirm.split("name=\"counted\" value=\"").nth(1);
    let counted = field.and_then(|it| it.split('"').next()).ok_or("no such field")?;
    let secret = csrf(&confirm)?;
    let form = format!(
        "do=cancel-all&state=ready&n=mails&match=ACME&counted={counted}&csrf={secret}&reason=x&typed=mails"
    );
    assert_eq!(site.post(&form).await?.status, 303);
    let seen = mails.snapshot().await?;
    assert_eq!((seen.ready, seen.in_work), (62, 2), "59 of others, alone, late, given back");
    let changes = text(&site.get("/changes").await?.body);
    assert!(changes.contains("cancel-all ready “ACME”: 59 items"), "{changes}");
    let dead = site.get("/confirm?do=cancel-all&state=dead&n=mails").await?;
    assert_eq!(dead.status, 400, "dead letters are dropped");
    taken.acknowledge().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_items_are_listed_by_their_state_and_cancelled() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    let mails = seinpaal.queue("mails");
    ready(&mails, 5).await?;
    let held = mails.pop().await?;
    let list = |rest: &str| format!("/v1/queues/mails/items?state={rest}");
    let (mut numbers, mut next) = (Vec::new(), String::new());
    for _ in 0..9 {
        let page = object(&site.get(&list(&format!("ready&rows=2{next}"))).await?);
        let items = page["items"].as_array().ok_or("no items")?.clone();
        numbers.extend(items.iter().filter_map(|item| item["id"].as_u64()));
        let Some(after) = page["next"].as_str() else { break };
        next = format!("&after={}", after.replace(' ', "%20"));
    }
    assert_eq!(numbers.len(), 5, "{numbers:?}");
    let work = object(&site.get(&list("in-work")).await?);
    assert_eq!(work["items"][0]["worker"]["fence"], held.fence().0, "{work}");
    for wrong in ["", "gone", "ready&after=x:0:1:", "ready&after=o:1", "ready&rows=0"] {
        assert_eq!(problem(&site.get(&list(wrong)).await?).0, 400, "{wrong}");
    }
    let body = r#"{"state": "ready", "matching": "other", "reason": "not needed"}"#;
    let cancelled = site.call("POST", "/v1/queues/mails/items/cancel", body).await?;
    assert_eq!((cancelled.status, &object(&cancelled)["items"]), (200, &2.into()));
    let dead = r#"{"state": "dead", "reason": "x"}"#;
    let refused = site.call("POST", "/v1/queues/mails/items/cancel", dead).await?;
    assert_eq!(problem(&refused).0, 400);
    held.acknowledge().await?;
    Ok(())
}
