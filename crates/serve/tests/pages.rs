//! Tests of the pages, read over a real port as a browser reads them, over a store in memory and
//! over a real Redis.

#[path = "pages/all_that_match.rs"]
mod all_that_match;
#[path = "pages/lists.rs"]
mod lists;
#[path = "pages/mounted.rs"]
mod mounted;
mod support;

use std::time::Duration;

use seinpaal::Seinpaal;
use seinpaal_serve::Options;
use support::{Site, csrf, text};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(flavor = "multi_thread")]
async fn the_page_alone_tells_three_situations_apart() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let full = seinpaal.semaphore("full").limit(1);
    let _held = full.acquire().label("job", "7").await?;
    let _waits = support::waiting(full.acquire()).await;

    let large = seinpaal.semaphore("large").limit(4);
    let _two = large.acquire().permits(2).await?;
    let _wants_four = support::waiting(large.acquire().permits(4)).await;
    let _wants_one = support::waiting(large.acquire()).await;

    let paused = seinpaal.semaphore("paused");
    paused.pause("driver update").await?;
    let _shut_out = support::waiting(paused.acquire()).await;

    let site = Site::open(seinpaal.clone(), Options::default()).await?;
    let page = text(&site.get("/name?n=full").await?.body);
    assert!(page.contains("Full: 1 of 1 held. 1 has waited for"), "{page}");
    assert!(
        page.contains("job=7") && (page.contains("estimate") || page.contains("about")),
        "{page}"
    );
    let page = text(&site.get("/name?n=large").await?.body);
    assert!(page.contains("2 are free, but the 1st in line wants 4."), "{page}");
    assert!(page.contains("2 free, kept for"), "the second waiter's reason: {page}");
    let page = text(&site.get("/name?n=paused").await?.body);
    assert!(page.contains("Paused: “driver update”."), "{page}");
    assert!(page.contains("no estimate"), "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_begins_with_everything_and_goes_on_with_what_changes() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = Site::open(seinpaal.clone(), Options::default()).await?;
    let mut stream = site.stream("/live?of=name&n=deploy").await?;
    let first = stream.until(|text| text.contains("Nobody waits.")).await?;
    assert!(first.contains("Free. Nobody holds it."), "{first}");
    let _permit = seinpaal.mutex("deploy").lock().await?;
    stream.until(|text| text.contains("Full: 1 of 1 held.")).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_resumed_sends_only_what_the_page_does_not_have() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = Site::open(seinpaal, Options::default()).await?;
    let mut stream = site.stream("/live?of=name&n=quiet").await?;
    let first = stream.until(|text| text.contains("event: parts") && text.contains("\n\n")).await?;
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).ok_or("no id")?.to_owned();
    drop(stream);
    let mut again = site.stream(&format!("/live?of=name&n=quiet&from={id}")).await?;
    let beat = again.until(|text| text.contains("event: beat")).await?;
    // Only the picture of the past changes, because time goes on.
    let others = ["\"head\"", "\"holders\"", "\"waiters\""];
    assert!(!others.iter().any(|part| beat.contains(part)), "nothing has changed: {beat}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_news_hides_its_buttons_and_tells_the_outage_later() -> Outcome {
    let redis = seinpaal_rig::RedisServer::start();
    let seinpaal = Seinpaal::connect(&redis.url("")).await?;
    let _permit = seinpaal.mutex("crane").lock().await?;
    let options = Options { allow_actions: true, ..Options::default() };
    let site = Site::open(seinpaal, options).await?;
    let page = site.get("/name?n=crane").await?.body;
    assert!(page.contains("<body>") && page.contains("Evict…"), "{page}");
    redis.pause();
    let mut page = site.get("/name?n=crane").await?.body;
    while !page.contains("Stale: the store has not answered") {
        page = site.get("/name?n=crane").await?.body;
    }
    assert!(page.contains("<body class=\"stale\">"), "{page}");
    let style = site.get("/assets/style.css").await?.body;
    assert!(style.contains("body.stale .act { visibility: hidden; }"), "{style}");
    redis.resume();
    while !page.contains("The store did not answer for ") {
        page = site.get("/name?n=crane").await?.body;
    }
    let home = text(&site.get("/").await?.body);
    assert!(home.contains("The store did not answer for "), "{home}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_says_whom_the_action_affects() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let gpus = seinpaal.semaphore("gpus").limit(1);
    let permit = gpus.acquire().label("job", "41").await?;
    let _waits = support::waiting(gpus.acquire().label("job", "42")).await;
    seinpaal.queue("mails").push("to: ann").await?;
    let options = Options { allow_actions: true, ..Options::default() };
    let site = Site::open(seinpaal.clone(), options).await?;
    let ask = async |query: &str| -> Result<String, Box<dyn std::error::Error>> {
        Ok(text(&site.get(&format!("/confirm?{query}")).await?.body))
    };
    let pid = std::process::id();
    let short = permit.ticket().to_string()[..8].to_owned();
    let asked = ask(&format!("do=evict&n=gpus&t={}", permit.ticket())).await?;
    for words in [
        &format!("Evict {short} of gpus?"),
        &format!("It is {pid}@"),
        "job=41 (",
        "and has held 1 for",
        "Next in line is",
        "job=42",
    ] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    let waiter = gpus.snapshot().await?.waiters[0].ticket;
    let asked = ask(&format!("do=evict&n=gpus&t={waiter}")).await?;
    assert!(asked.contains("1st of 1 in line") && asked.contains("Nobody else waits."), "{asked}");
    let asked = ask("do=limit&n=gpus").await?;
    assert!(asked.contains("Set the limit of gpus?"), "{asked}");
    assert!(asked.contains("Now: 1 of 1 held, 1 waiting."), "{asked}");
    let asked = ask("do=purge&n=mails").await?;
    assert!(asked.contains("Purge the queue mails?") && asked.contains("Now: 1 ready"), "{asked}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_in_trouble_and_dead_letters_are_on_the_home_page() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = Site::open(seinpaal.clone(), Options::default()).await?;
    let calm = text(&site.get("/").await?.body);
    assert!(calm.contains("Nothing needs attention."), "{calm}");
    let imports = seinpaal.queue("imports");
    imports.push("x").deliveries(1).await?;
    imports.worker(1, async |_| Err::<(), &str>("no route")).until_empty().run().await?;
    let stopped = seinpaal.queue("stopped");
    stopped.push("x").await?;
    stopped.pause("no mail").await?;
    let mut home = String::new();
    while !home.contains("imports") || !home.contains("stopped") {
        home = site.get("/").await?.body;
    }
    assert!(home.contains("href=\"/queue?n=imports\""), "{home}");
    let home = text(&home);
    for words in ["Needs attention", "1 dead letter.", "Paused: “no mail”.", "dead letters 1"] {
        assert!(home.contains(words), "{words}: {home}");
    }
    let queues = text(&site.get("/queues").await?.body);
    assert!(queues.contains("1 dead letter. Empty."), "{queues}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_a_line_waiting_is_said_once() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let full = seinpaal.semaphore("full").limit(1);
    let _held = full.acquire().await?;
    let mut line = Vec::new();
    for _ in 0..5 {
        line.push(support::waiting(full.acquire()).await);
    }
    let site = Site::open(seinpaal, Options::default()).await?;
    let page = text(&site.get("/name?n=full").await?.body);
    let (_, line) = page.split_once("In line").ok_or("no line")?;
    assert_eq!(line.matches("1 of 1 held").count(), 1, "{line}");
    assert!(!line.contains("as above"), "{line}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_pages_of_one_name_ask_the_store_as_often_as_one() -> Outcome {
    let redis = seinpaal_rig::RedisServer::start();
    let seinpaal = Seinpaal::connect(&redis.url("")).await?;
    let _permit = seinpaal.mutex("watched").lock().await?;
    let site = Site::open(seinpaal, Options::default()).await?;
    let mut streams = Vec::new();
    for _ in 0..100 {
        streams.push(site.stream("/live?of=name&n=watched").await?);
    }
    for stream in &mut streams {
        stream.until(|text| text.contains("Full: 1 of 1 held.")).await?;
    }
    let metrics = site.get("/metrics").await?.body;
    assert!(metrics.contains("seinpaal_serve_watched 1\n"), "{metrics}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_beyond_the_bound_is_told_why_and_gets_the_place_of_one_that_ends() -> Outcome {
    let options = Options { streams: 1, ..Options::default() };
    let site = Site::open(Seinpaal::in_memory(), options).await?;
    let mut first = site.stream("/live?of=name&n=a").await?;
    first.until(|text| text.contains("event: parts")).await?;
    let refused = site.get("/live?of=name&n=a").await?;
    let words = "Stale: all 1 places for pages that are kept up to date are taken; this one asks again every 10 s.\n";
    assert_eq!((refused.status, refused.body.as_str()), (503, words));
    assert_eq!(site.get("/name?n=a").await?.status, 200, "the page itself is served");
    assert!(site.get("/metrics").await?.body.contains("seinpaal_serve_streams 1\n"));
    drop(first);
    // The place of the ended stream is free when `serve` has noticed its end.
    while site.get("/metrics").await?.body.contains("seinpaal_serve_streams 1\n") {}
    site.stream("/live?of=name&n=a").await?.until(|text| text.contains("event: parts")).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_eviction_is_confirmed_reaches_its_holder_and_is_written_down() -> Outcome {
    let directory = tempfile::tempdir()?;
    let audit = directory.path().join("audit.jsonl");
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.mutex("taken").lock().await?;
    let options = Options { allow_actions: true, audit: Some(audit.clone()), ..Options::default() };
    let site = Site::open(seinpaal, options).await?;
    let confirm = site.get(&format!("/confirm?do=evict&n=taken&t={}", permit.ticket())).await?.body;
    let secret = csrf(&confirm)?;
    let form = format!("do=evict&n=taken&t={}&csrf={secret}", permit.ticket());
    assert_eq!(site.post(&form).await?.status, 400, "a reason is needed");
    let answer = site.post(&format!("{form}&reason=hangs+since+noon")).await?;
    assert_eq!(answer.status, 303);
    permit.lost().await;
    let back = site.get(answer.header("location").ok_or("no location")?).await?.body;
    assert!(back.contains("Evicted.") && back.contains("hangs since noon"), "{back}");
    let written = std::fs::read_to_string(audit)?;
    assert!(written.contains(r#""reason":"hangs since noon","error":"""#), "{written}");
    let nobody = form.replace(&permit.ticket().to_string(), &"0123456789abcdef".repeat(2));
    assert_eq!(site.post(&format!("{nobody}&reason=gone")).await?.status, 409);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn permits_are_reserved_for_a_person_with_a_reason_and_until_a_time() -> Outcome {
    let redis = seinpaal_rig::RedisServer::start();
    for seinpaal in [Seinpaal::in_memory(), Seinpaal::connect(&redis.url("")).await?] {
        let gpus = seinpaal.semaphore("gpus");
        gpus.set_limit(4).await?;
        let options = Options { allow_actions: true, ..Options::default() };
        let site = Site::open(seinpaal.clone(), options).await?;
        let secret = csrf(&site.get("/confirm?do=reserve&n=gpus").await?.body)?;
        let form = |rest: &str| format!("do=reserve&n=gpus&csrf={secret}&{rest}");
        for wrong in ["number=3&for=1h", "number=0&for=1h&reason=x", "number=3&for=2d&reason=x"] {
            assert_eq!(site.post(&form(wrong)).await?.status, 400, "{wrong}");
        }
        assert_eq!(site.post(&form("number=9&for=1h&reason=x")).await?.status, 409, "too many");
        let done = site.post(&form("number=3&for=2h&reason=driver+update")).await?;
        assert_eq!(done.status, 303);
        let seen = gpus.snapshot().await?;
        assert_eq!((seen.permits_held, seen.holders[0].slots.count()), (3, 3));
        if let Some(left) = seen.holders[0].valid_for {
            assert!(left > Duration::from_secs(7000) && left <= Duration::from_secs(7200));
        }
        let page = text(&site.get("/name?n=gpus").await?.body);
        assert!(page.contains("Reserved: 3 by") && page.contains("“driver update”"), "{page}");
        assert!(page.contains("reserve 3 for 2h00m"), "among the changes: {page}");
        let full = site.post(&form("number=2&for=1h&reason=x")).await?;
        assert!(full.status == 409 && full.body.contains("1 are free"), "{}", full.body);
        gpus.evict(seen.holders[0].ticket).await?;
        assert_eq!(gpus.snapshot().await?.permits_held, 0, "given back before its time");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_shows_its_dead_letters_and_replays_them() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let queue = seinpaal.queue("mails");
    queue.push("to: ann").deliveries(1).await?;
    queue.pop().await?.fail("no route to host", Duration::ZERO).await?;
    let options = Options { allow_actions: true, ..Options::default() };
    let site = Site::open(seinpaal.clone(), options).await?;
    let page = site.get("/queue?n=mails").await?.body;
    assert!(page.contains("no route to host") && page.contains("to: ann"), "{page}");
    let secret = csrf(&site.get("/confirm?do=replay-all&n=mails").await?.body)?;
    assert_eq!(site.post(&format!("do=replay-all&n=mails&csrf={secret}")).await?.status, 303);
    assert_eq!(queue.snapshot().await?.ready, 1);
    let page = text(&site.get("/queue?n=mails").await?.body);
    assert!(page.contains("Nobody works on it: 1 ready."), "{page}");
    let wrong = format!("do=purge&n=mails&reason=x&typed=mail&csrf={secret}");
    assert_eq!(site.post(&wrong).await?.status, 400, "the name has to be typed");
    assert_eq!(queue.snapshot().await?.ready, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_stay_hidden_where_they_are_to() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let queue = seinpaal.queue("secrets");
    queue.push("the launch code").deliveries(1).await?;
    queue.pop().await?.fail("no", Duration::ZERO).await?;
    let site = Site::open(seinpaal, Options { payloads: false, ..Options::default() }).await?;
    let page = site.get("/queue?n=secrets").await?.body;
    assert!(page.contains("Dead letters") && !page.contains("launch code"), "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_searched_sorted_and_paged_by_the_server() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    for number in 0..95 {
        seinpaal.semaphore(&format!("job/{number:02}")).set_limit(1).await?;
    }
    let site = Site::open(seinpaal, Options::default()).await?;
    let rows = |body: &str| body.matches("<tr data-key").count();
    let first = site.get("/?show=all&sort=name").await?.body;
    assert_eq!(rows(&first), 40);
    assert!(text(&first).contains("1–40 of 95"), "{}", text(&first));
    let last = site.get("/?show=all&sort=name&page=2").await?.body;
    assert_eq!((rows(&last), last.contains("rel=\"next\"")), (15, false));
    assert_eq!(rows(&site.get("/?show=all&q=JOB/7").await?.body), 10);
    assert!(site.get("/?q=nothing").await?.body.contains("No name matches"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_stands_under_the_base_path() -> Outcome {
    let options = Options { base_path: "/locks".to_owned(), ..Options::default() };
    let seinpaal = Seinpaal::in_memory();
    let _permit = seinpaal.mutex("one").lock().await?;
    let site = Site::open(seinpaal, options).await?;
    for page in ["/locks", "/locks/", "/locks/name?n=one", "/locks/assets/style.css"] {
        assert_eq!(site.get(page).await?.status, 200, "{page}");
    }
    let page = site.get("/locks/").await?.body;
    for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default())
    {
        assert!(
            link.starts_with("/locks/") || link.starts_with('?') || link.starts_with('#'),
            "{link}"
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_opened_while_the_store_is_away_has_places_for_what_comes() -> Outcome {
    let mut redis = seinpaal_rig::RedisServer::start();
    let seinpaal = Seinpaal::connect(&format!("redis://127.0.0.1:{}", redis.port())).await?;
    let site = Site::open(seinpaal.clone(), Options::default()).await?;
    // The parts of each kind of page, as a page with data shows them.
    let addresses = ["/", "/queues", "/name?n=a", "/queue?n=a"];
    let mut ids = Vec::new();
    for address in addresses {
        ids.push(parts(&site.get(address).await?.body));
    }
    redis.kill();
    // A new site has read nothing yet.
    let site = Site::open(seinpaal, Options::default()).await?;
    for (address, ids) in addresses.iter().zip(ids) {
        let away = site.get(address).await?.body;
        assert!(away.contains("the store has not answered"), "{away}");
        assert_eq!(parts(&away), ids, "{address}");
    }
    Ok(())
}

fn parts(page: &str) -> Vec<String> {
    let parts = page.split("data-part=\"").skip(1);
    parts.map(|rest| rest.chars().take_while(|c| *c != '"').collect()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_says_that_the_store_has_gone_and_when_it_is_back() -> Outcome {
    let mut redis = seinpaal_rig::RedisServer::start();
    let seinpaal = Seinpaal::connect(&format!("redis://127.0.0.1:{}", redis.port())).await?;
    let site = Site::open(seinpaal, Options::default()).await?;
    let mut stream = site.stream("/live?of=name&n=shaken").await?;
    stream.until(|text| text.contains("Free. Nobody holds it.")).await?;
    redis.kill();
    stream.until(|text| text.contains("Stale: the store has not answered for")).await?;
    redis.start_again();
    stream.until(|text| text.contains("\"trouble\":\"\"")).await?;
    Ok(())
}
