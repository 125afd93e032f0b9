//! Tests of pages inside another service: under their path, beside the routes of the service, and
//! without changing these.

use axum::{Router, extract::State, http::StatusCode, routing::get};
use seinpaal::Seinpaal;
use seinpaal_serve::{Dashboard, Options};

use super::{
    Outcome,
    support::{Site, csrf, text},
};

/// Makes a service with a route, a state, and its own answer for unknown addresses.
fn service(pages: Router) -> Router {
    let own = Router::new().route("/", get(async |State(it): State<&'static str>| it));
    let missing = async || (StatusCode::NOT_FOUND, "the service has no such page");
    own.with_state("the service").merge(pages).fallback(missing)
}

async fn mounted(seinpaal: &Seinpaal) -> Result<Site, Box<dyn std::error::Error>> {
    let hosts = vec!["service.example".to_owned()];
    let base_path = "/ops/locks".to_owned();
    let options =
        Options { base_path, hosts, allow_actions: true, api: true, ..Options::default() };
    Site::around(service(Dashboard::new(seinpaal.clone(), options)?.router())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_stand_under_their_path_and_the_routes_of_the_service_are_its_own() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let _held = seinpaal.mutex("deploy").lock().await?;
    let site = mounted(&seinpaal).await?;
    let own = site.get("/").await?;
    assert_eq!((own.status, &own.body[..]), (200, "the service"));
    assert_eq!(own.header("content-security-policy"), None, "our headers are for our pages");
    let missing = site.get("/nowhere").await?;
    assert_eq!((missing.status, &missing.body[..]), (404, "the service has no such page"));
    for (address, words) in [
        ("/ops/locks/", "deploy"),
        ("/ops/locks", "deploy"),
        ("/ops/locks/name?n=deploy", "Full"),
        ("/ops/locks/queues", "Queues"),
        ("/ops/locks/v1/openapi.json", "\"openapi\""),
        ("/ops/locks/metrics", "seinpaal_permits_held"),
    ] {
        let page = site.get(address).await?;
        assert!(page.status == 200 && page.body.contains(words), "{address}: {}", page.body);
        let links = page.body.matches("href=\"/").count();
        assert_eq!(links, page.body.matches("href=\"/ops/locks").count(), "{address}");
    }
    let ours = site.get("/ops/locks/nowhere").await?;
    assert!(ours.status == 404 && ours.body.contains("There is no such page here."));
    let foreign = "Host: evil.example\r\nConnection: close\r\n\r\n";
    let refused = site.ask(&format!("GET /ops/locks/ HTTP/1.1\r\n{foreign}")).await?;
    let served = site.ask(&format!("GET / HTTP/1.1\r\n{foreign}")).await?;
    assert_eq!((refused.status, served.status), (421, 200), "the hosts of the service are its own");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mounted_page_is_live_and_acts() -> Outcome {
    let seinpaal = Seinpaal::in_memory();
    let site = mounted(&seinpaal).await?;
    let mut news = site.stream("/ops/locks/live?of=name&n=deploy").await?;
    let held = seinpaal.mutex("deploy").lock().await?;
    news.until(|all| all.contains(&held.ticket().to_string()[..8])).await?;
    let confirm = format!("/ops/locks/confirm?do=evict&n=deploy&t={}", held.ticket());
    let page = site.get(&confirm).await?.body;
    assert!(page.contains("action=\"/ops/locks/act\""), "{page}");
    let form = format!("do=evict&n=deploy&t={}&reason=x&csrf={}", held.ticket(), csrf(&page)?);
    let done = site.post_to("/ops/locks/act", &form).await?;
    let back = done.header("location").ok_or("no location")?;
    assert!(done.status == 303 && back.starts_with("/ops/locks/name?n=deploy"), "{back}");
    assert!(text(&site.get(back).await?.body).contains("Evicted."));
    Ok(())
}
