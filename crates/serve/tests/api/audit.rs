//! Tests that no change lacks its entry in the audit.

use std::path::Path;

use axum::{Router, body::Body, http::Request};
use futures_util::FutureExt;
use seinpaal::{Permit, Seinpaal};
use seinpaal_serve::{Dashboard, Options};
use serde_json::Value;
use tower_service::Service;

use super::{Outcome, support::csrf};
use crate::broken_off::text_of;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Pages and an HTTP API without a port, with an audit in a file, and a holder to evict.
struct Scene {
    held: Permit,
    dashboard: Dashboard,
    folder: tempfile::TempDir,
}

impl Scene {
    async fn new() -> Fallible<Self> {
        let (seinpaal, folder) = (Seinpaal::in_memory_here(), tempfile::tempdir()?);
        let held = seinpaal.mutex("deploy").lock().await?;
        let audit = Some(folder.path().join("audit"));
        let options = Options { api: true, allow_actions: true, audit, ..Options::default() };
        Ok(Self { held, dashboard: Dashboard::new(seinpaal, options)?, folder })
    }

    fn router(&self) -> Router {
        self.dashboard.router()
    }

    /// Sends a request, and drops it while the store has it.
    fn break_off(&self, address: &str, kind: &str, body: String) -> Outcome {
        let request = Request::post(address).header("host", "localhost");
        let request = request.header("content-type", kind).body(Body::from(body))?;
        assert!(self.router().call(request).now_or_never().is_none(), "it was answered at once");
        Ok(())
    }

    /// Evicts the holder by the HTTP API, and breaks off.
    fn evict_and_break_off(&self) -> Outcome {
        let address = format!("/v1/names/deploy/tickets/{}/evict", self.held.ticket());
        self.break_off(&address, "application/json", r#"{"reason": "hangs"}"#.to_owned())
    }

    async fn is_evicted_and_noted(&self) -> Outcome {
        self.held.lost().await;
        self.dashboard.changes_are_noted().await;
        let entries = entries(self.folder.path())?;
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!((&entries[0]["reason"], &entries[0]["error"]), (&"hangs".into(), &"".into()));
        Ok(())
    }
}

/// Reads the entries in the file of the audit.
fn entries(folder: &Path) -> Fallible<Vec<Value>> {
    let lines = std::fs::read_to_string(folder.join("audit"))?;
    lines.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_change_is_in_the_audit_though_the_program_that_made_it_left() -> Outcome {
    let scene = Scene::new().await?;
    scene.evict_and_break_off()?;
    scene.is_evicted_and_noted().await
}

#[tokio::test(start_paused = true)]
async fn a_change_is_in_the_audit_though_the_browser_that_made_it_left() -> Outcome {
    let scene = Scene::new().await?;
    let what = format!("do=evict&n=deploy&t={}", scene.held.ticket());
    let page = Request::get(format!("/confirm?{what}")).header("host", "localhost");
    let page = text_of(scene.router().call(page.body(Body::empty())?).await?).await?;
    let form = format!("{what}&reason=hangs&csrf={}", csrf(&page)?);
    scene.break_off("/act", "application/x-www-form-urlencoded", form)?;
    scene.is_evicted_and_noted().await
}

#[test]
fn a_change_that_ends_with_the_program_is_in_the_audit_as_one_of_unknown_outcome() -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let scene = runtime.block_on(async {
        let scene = Scene::new().await?;
        scene.evict_and_break_off()?;
        Fallible::Ok(scene)
    })?;
    drop(runtime);
    let entries = entries(scene.folder.path())?;
    let error = entries[0]["error"].as_str().unwrap_or_default();
    assert!(error.contains("nobody knows whether it was done"), "{entries:?}");
    Ok(())
}
