//! Tests of holders that may be dead or cut off, on the page of a name and in the list.

mod support;

use std::time::Duration;

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use support::{Site, text};

/// How often a test looks at the list for a loss. So many looks take longer than a lease lasts.
const MOST_LOOKS: usize = 400;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_renews_no_more_is_told_and_one_that_nobody_renews_is_not() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = Site::open(seinpaal.clone(), Options { api: true, ..Options::default() }).await?;
    // A page can show a lease as late for 2 s. If a busy machine misses that time, the next lease
    // gives another chance.
    for attempt in 0.. {
        let name = format!("crane-{attempt}");
        let mutex = seinpaal.mutex(&name);
        let _dies = mutex.lock().ttl(Duration::from_secs(4)).await?.detach().await?;
        let _waits = support::waiting(mutex.lock()).await;
        if let Some((page, api)) = until_told(&site, &name).await? {
            assert!(page.contains("A holder may be dead or cut off: not renewed for"), "{page}");
            assert!(api.contains("\"not_renewed_ms\":"), "{api}");
            break;
        }
        assert!(attempt < 20, "nobody was told");
    }
    let kept = seinpaal.mutex("kept");
    let _kept = kept.lock().ttl(Duration::from_secs(4)).to_detach().await?.detach().await?;
    let _waits = support::waiting(kept.lock()).await;
    assert_eq!(until_told(&site, "kept").await?, None);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_tells_of_a_holder_that_renews_no_more_though_its_page_is_not_open() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = Site::open(seinpaal.clone(), Options::default()).await?;
    for attempt in 0.. {
        let mutex = seinpaal.mutex(&format!("crane-{attempt}"));
        let _dies = mutex.lock().ttl(Duration::from_secs(8)).await?.detach().await?;
        if let Some(page) = until_listed_as_late(&site, &seinpaal, attempt).await? {
            let (attention, table) = page.split_once("In use").ok_or("no table")?;
            let late = "A holder may be dead or cut off: not renewed for";
            assert!(attention.contains("Needs attention") && attention.contains(late), "{page}");
            assert!(table.contains(late) && table.contains("its lease ends in"), "{page}");
            let name = format!("crane-{attempt}");
            if is_told_as_lost(&site, &name).await? {
                break;
            }
        }
        assert!(attempt < 20, "nobody was told");
    }
    let kept = seinpaal.mutex("kept");
    let _kept = kept.lock().ttl(Duration::from_secs(8)).to_detach().await?.detach().await?;
    while kept.as_semaphore().snapshot().await?.permits_held > 0 {
        let page = text(&site.get("/?q=kept").await?.body);
        assert!(!page.contains("may be dead"), "nobody renews it on a schedule: {page}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

/// Returns the list as soon as it says that a holder is late. `None` if the lease has ended before.
async fn until_listed_as_late(
    site: &Site,
    seinpaal: &Seinpaal,
    attempt: u32,
) -> Result<Option<String>, Box<dyn std::error::Error>> {
    let name = format!("crane-{attempt}");
    while seinpaal.semaphore(&name).snapshot().await?.permits_held > 0 {
        let page = text(&site.get("/").await?.body);
        if page.contains("may be dead") {
            return Ok(Some(page));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(None)
}

/// Returns whether the list and the page of the name say that the hold was lost, once the lease of
/// a late holder has ended. They do not say so if the name was not read for too long, because then
/// the end of the hold is unknown.
async fn is_told_as_lost(site: &Site, name: &str) -> Result<bool, Box<dyn std::error::Error>> {
    for _ in 0..MOST_LOOKS {
        let list = text(&site.get("/").await?.body);
        if list.contains(&format!("{name} Lost ")) {
            let page = text(&site.get(&format!("/name?n={name}")).await?.body);
            assert!(page.contains("ago: nobody renewed the lease."), "{page}");
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(false)
}

/// Returns the page and the answer of the API as soon as a lease is late. `None` if the holder has
/// gone before.
async fn until_told(
    site: &Site,
    name: &str,
) -> Result<Option<(String, String)>, Box<dyn std::error::Error>> {
    loop {
        let api = site.call("GET", &format!("/v1/names/{name}"), "").await?.body;
        let page = text(&site.get(&format!("/name?n={name}")).await?.body);
        if page.contains("not renewed") && api.contains("not_renewed_ms") {
            return Ok(Some((page, api)));
        }
        if !api.contains("\"waiting_ms\"") {
            return Ok(None);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
