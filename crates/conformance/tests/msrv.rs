//! The stated oldest compiler is at least as new as the dependencies of this build need.
//!
//! Clippy's lint `incompatible_msrv` checks our own code, with the version from the manifest.

use std::{env, path::Path, process::Command};

use serde_json::Value;

fn version(text: &str) -> Vec<u32> {
    let mut parts: Vec<u32> = text.split('.').filter_map(|part| part.parse().ok()).collect();
    parts.resize(3, 0);
    parts
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_ours() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let platform = ["--filter-platform", "x86_64-unknown-linux-gnu"];
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(platform)
        .current_dir(root)
        .output()
        .expect("cargo metadata runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let ours = packages.iter().find(|package| package["name"] == "seinpaal").expect("our own");
    let ours = version(ours["rust_version"].as_str().expect("a stated version"));
    let used = metadata["resolve"]["nodes"].as_array().expect("what is built");
    let is_used = |package: &&Value| used.iter().any(|node| node["id"] == package["id"]);
    let newer: Vec<String> = packages
        .iter()
        .filter(is_used)
        .filter(|package| {
            package["rust_version"].as_str().is_some_and(|needs| version(needs) > ours)
        })
        .map(|package| format!("{} needs {}", package["name"], package["rust_version"]))
        .collect();
    assert!(newer.is_empty(), "{newer:?}");
}
