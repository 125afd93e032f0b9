//! A crate uses crates of lower layers only. Data flows from the API through the session to the
//! store, and a crate that looked upward would make that a circle.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

/// The crates of the workspace, lowest layer first. Crates of one layer do not use each other.
const LAYERS: &[&[&str]] = &[
    &["seinpaal-proto"],
    &["seinpaal-store"],
    &["seinpaal-embedded", "seinpaal-redis", "seinpaal-zookeeper"],
    &["seinpaal-quorum"],
    &["seinpaal"],
    &["seinpaal-words", "seinpaal-tower"],
    &["seinpaal-serve"],
    &["seinpaal-cli"],
    // From here on: tests.
    &["seinpaal-rig", "seinpaal-models", "seinpaal-fuzz"],
    &["seinpaal-conformance"],
    &["torture"],
    &["day"],
];

/// The crates of the workspace with those of its crates that each uses, without those that only its
/// tests use.
fn used() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = ["metadata", "--format-version=1", "--no-deps", "--offline"];
    let output = Command::new(cargo).args(metadata).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    let names: Vec<String> = packages.iter().map(|package| text(&package["name"])).collect();
    let uses = |package: &Value| {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let shipped = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
        let ours = shipped.map(|dependency| text(&dependency["name"]));
        ours.filter(|name| names.contains(name)).collect()
    };
    packages.iter().map(|package| (text(&package["name"]), uses(package))).collect()
}

fn layer(name: &str) -> usize {
    let layer = LAYERS.iter().position(|layer| layer.contains(&name));
    layer.unwrap_or_else(|| panic!("{name} has no place in the list of layers"))
}

#[test]
fn crates_use_crates_of_lower_layers_only() {
    for (name, uses) in used() {
        for other in uses {
            assert!(layer(&other) < layer(&name), "{name} must not use {other}");
        }
    }
}
