//! Tests of the past on the pages: drawings, and estimates that are based on the last holds.

mod support;

use std::time::Duration;

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use support::{Site, object, programs, text};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_draws_what_was_and_says_the_same_in_a_table() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let busy = seinpaal.semaphore("busy").limit(1);
    let held = busy.acquire().await?;
    let waits = support::waiting(busy.acquire()).await;
    let site = Site::open(seinpaal, Options::default()).await?;
    let mut stream = site.stream("/live?of=name&n=busy").await?;
    stream.until(|text| text.contains("In line over the last 10 minutes: 1, now 1.")).await?;
    held.release().await?;
    drop(waits);
    stream.until(|text| text.contains("Waits that ended in the last 10 minutes: 1;")).await?;
    let page = site.get("/name?n=busy").await?.body;
    assert!(page.contains("There are readings from "), "{page}");
    assert!(
        page.contains("<caption class=\"hidden\">The last 10 minutes, the newest first"),
        "{page}"
    );
    assert!(page.contains("class=\"gap\"") && text(&page).contains("not read"), "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_scraped_has_a_past_before_anybody_looks() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.semaphore("scraped").limit(3).acquire().permits(2).await?;
    let site = Site::open(seinpaal, Options::default()).await?;
    site.get("/metrics").await?;
    permit.release().await?;
    let page = site.get("/name?n=scraped").await?.body;
    assert!(page.contains("Held over the last 10 minutes: 0 to 2"), "{page}");
    Ok(())
}

/// Takes turns at a name for ever, so that a request always waits. Each hold is longer than the
/// time between two readings.
async fn keep_busy(seinpaal: Seinpaal) {
    loop {
        let busy = seinpaal.semaphore("busy").limit(1);
        let Ok(permit) = busy.acquire().await else { return };
        tokio::time::sleep(Duration::from_millis(1300)).await;
        drop(permit);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_and_the_api_estimate_by_the_last_holds() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = programs(&seinpaal).await?;
    for _ in 0..3 {
        tokio::spawn(keep_busy(seinpaal.clone()));
    }
    support::until(&seinpaal, "busy", 1, 2).await?;
    let first = object(&site.call("GET", "/v1/names/busy", "").await?);
    let estimate = &first["waiters"][0]["estimate"];
    let is_by_holds = estimate.get("holds_seen").is_some();
    assert!(is_by_holds || estimate["kind"] == "no-hold-ended", "{first}");
    let mut stream = site.stream("/live?of=name&n=busy").await?;
    stream.until(|text| text.contains("holds, half of them within")).await?;
    let shown = object(&site.call("GET", "/v1/names/busy", "").await?);
    let waiter = &shown["waiters"][1];
    assert!(waiter["estimate"]["holds_seen"].as_u64() >= Some(2), "{shown}");
    assert!(waiter["estimate"]["typical_hold_ms"].as_u64() >= Some(600), "{shown}");
    let page = text(&site.get("/name?n=busy").await?.body);
    assert!(page.contains("Next grant in about") && page.contains("going by"), "{page}");
    Ok(())
}
