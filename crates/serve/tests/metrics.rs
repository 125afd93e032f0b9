//! Tests of `/metrics`, read as a scraper reads it.

mod support;

use std::time::Duration;

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use support::Site;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn metrics_have_a_series_for_each_name_and_one_for_the_rest() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let gpus = seinpaal.semaphore("gpus").limit(4);
    let _permit = gpus.acquire().permits(3).await?;
    let _waits = support::waiting(gpus.acquire().permits(2)).await;
    for number in 0..600 {
        seinpaal.semaphore(&format!("idle {number}")).set_limit(2).await?;
    }
    let site = Site::open(seinpaal, Options::default()).await?;
    let metrics = site.get("/metrics").await?.body;
    assert!(metrics.contains("seinpaal_permits_held{name=\"gpus\"} 3\n"), "{metrics}");
    assert!(metrics.contains("seinpaal_limit{name=\"\"} 202\n"), "the limits of 101 others");
    assert!(metrics.contains("seinpaal_holders_not_renewed{name=\"gpus\"} 0\n"), "{metrics}");
    assert_eq!(metrics.matches("seinpaal_oldest_hold_seconds{").count(), 1, "where somebody waits");
    assert_eq!(metrics.matches("seinpaal_limit{").count(), 501);
    assert!(metrics.contains("seinpaal_store_up 1\n") && metrics.ends_with("# EOF\n"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_and_the_dashboard_name_only_metrics_that_are_there() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let _permit = seinpaal.mutex("one").lock().await?;
    let _waits = support::waiting(seinpaal.mutex("one").lock()).await;
    seinpaal.queue("mails").push("to: ann").await?;
    let options = Options { metrics_of: vec!["one".to_owned()], ..Options::default() };
    let site = Site::open(seinpaal, options).await?;
    let metrics = site.get("/metrics").await?.body;
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide");
    for page in ["serve.md", "serve/alerts.yaml", "serve/grafana.json"] {
        let text = std::fs::read_to_string(format!("{docs}/{page}"))?;
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let named = words.filter(|word| word.starts_with("seinpaal_") && *word != "seinpaal_serve");
        let named: Vec<_> = named.collect();
        assert!(named.len() >= 6, "{page} names {named:?}");
        for name in named {
            let family = ["_total", "_bucket", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end))
                .unwrap_or(name);
            assert!(metrics.contains(&format!("# TYPE {family} ")), "{page} names {name}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_holds_and_losses_are_counted_of_the_names_that_the_options_list() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let options = Options { metrics_of: vec!["counted".to_owned()], ..Options::default() };
    let site = Site::open(seinpaal.clone(), options).await?;
    let metrics = site.get("/metrics").await?.body;
    for series in ["hold_seconds_count", "wait_seconds_count", "losses_total"] {
        let none = format!("seinpaal_{series}{{name=\"counted\"}} 0\n");
        assert!(metrics.contains(&none), "each begins with 0: {metrics}");
    }
    // Whether a reading sees a hold or a late lease depends on its moment, so more of them come
    // until one was seen.
    let counted = [("hold_seconds_count", 4), ("wait_seconds_count", 4), ("losses_total", 4)];
    for (series, most_seconds) in counted {
        let begun = count(&site, series).await?;
        while count(&site, series).await? == begun {
            for name in ["counted", "other"] {
                tokio::spawn(come_and_go(seinpaal.clone(), name, most_seconds));
            }
            tokio::time::sleep(Duration::from_secs(most_seconds)).await;
        }
    }
    let metrics = site.get("/metrics").await?.body;
    assert!(!metrics.contains("seconds_count{name=\"other\"}"), "{metrics}");
    assert!(metrics.contains("seinpaal_wait_seconds_bucket{le=\"86400.0\",name=\"counted\"}"));
    Ok(())
}

/// Lets a holder die, whose lease then ends. Another holder waits for that, and gives the permit
/// back after a while.
async fn come_and_go(seinpaal: Seinpaal, name: &str, seconds: u64) {
    let mutex = seinpaal.mutex(name);
    let Ok(permit) = mutex.lock().ttl(Duration::from_secs(seconds)).await else { return };
    let Ok(_dies) = permit.detach().await else { return };
    let Ok(next) = mutex.lock().await else { return };
    tokio::time::sleep(Duration::from_millis(1500)).await;
    drop(next);
}

async fn count(site: &Site, series: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let metrics = site.get("/metrics").await?.body;
    let start = format!("seinpaal_{series}{{name=\"counted\"}} ");
    let line =
        metrics.lines().find_map(|line| line.strip_prefix(&start)).ok_or("no such series")?;
    Ok(line.parse()?)
}

#[test]
fn names_that_cannot_be_counted_are_refused() {
    let refused = |names: Vec<String>| {
        let options = Options { metrics_of: names, ..Options::default() };
        seinpaal_serve::Dashboard::new(Seinpaal::in_memory(), options)
            .err()
            .map(|it| it.to_string())
    };
    assert_eq!(refused(vec!["fine".to_owned()]), None);
    assert!(refused(vec![String::new()]).unwrap_or_default().contains("is not a name"));
    let many = (0..101).map(|number| number.to_string()).collect();
    assert!(refused(many).unwrap_or_default().contains("at most 100"));
}
