//! The layers of the workspace, and the dependencies that lead to a later layer.

use std::{fs, path::Path};

/// The crates that ship, lowest layer first. A crate uses crates of earlier layers only, so two
/// crates of one layer never use each other.
pub const PRODUCT: &[&[&str]] = &[
    &["proto"],
    &["store"],
    &["embedded", "redis", "zookeeper"],
    &["seinpaal"],
    &["words", "tower"],
    &["serve"],
    &["cli"],
];

/// The crates that test the product, lowest layer first. They come after all crates of the product.
pub const PROOF: &[&[&str]] = &[
    &["draw", "rig", "house", "public-api"],
    &["conformance", "models"],
    &["torture"],
    &["planted", "day"],
];

/// One crate uses another.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Arrow {
    /// The directory of the crate that uses the other.
    pub from: String,
    /// The directory of the crate that is used.
    pub to: String,
}

/// The crates of the tree at `root` by their directories, lowest layer first.
///
/// # Panics
/// The tree has no directory `crates`.
#[must_use]
pub fn crates(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("crates")).expect("a directory crates in the tree");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut found: Vec<String> = entries.flatten().map(name).collect();
    found.sort_by_key(|name| (layer(name), name.clone()));
    found
}

/// The dependencies between the crates of the tree at `root`, without those that only tests need.
///
/// # Panics
/// A manifest cannot be read.
#[must_use]
pub fn arrows(root: &Path) -> Vec<Arrow> {
    let all = crates(root);
    let each = all.iter().map(|from| {
        let path = root.join("crates").join(from).join("Cargo.toml");
        let manifest = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let used = dependencies(&manifest, &all);
        used.into_iter().map(move |to| Arrow { from: from.clone(), to })
    });
    each.flatten().collect()
}

/// The arrows that do not lead to an earlier layer. Every layer is earlier than a crate without a
/// layer.
#[must_use]
pub fn upward(arrows: &[Arrow]) -> Vec<Arrow> {
    let runs_up = |arrow: &&Arrow| layer(&arrow.to) >= layer(&arrow.from);
    arrows.iter().filter(runs_up).cloned().collect()
}

/// The position of the crate's layer. A crate without a layer comes after the last one.
fn layer(name: &str) -> usize {
    let has_it = |layer: &&[&str]| layer.contains(&name);
    PRODUCT.iter().chain(PROOF).position(has_it).unwrap_or(usize::MAX)
}

/// The directories of the workspace's crates under `[dependencies]`.
fn dependencies(manifest: &str, crates: &[String]) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if matches!(section, "[dependencies]" | "[build-dependencies]") {
            let key = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let directory = key.strip_prefix("seinpaal-").unwrap_or(key);
            let is_ours = key != "redis" && crates.iter().any(|name| name == directory);
            if is_ours {
                found.push(directory.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_on_a_later_layer_or_on_the_same_runs_upward() {
        let manifest = "[dependencies]\nseinpaal.workspace = true\nseinpaal-redis.workspace = true\n\
                        redis.workspace = true\n[dev-dependencies]\nseinpaal-rig.workspace = true\n";
        let crates = ["seinpaal", "redis", "rig"].map(str::to_owned);
        let to = dependencies(manifest, &crates);
        assert_eq!(to, ["seinpaal", "redis"]);

        let uses = |from: &str, to: &str| Arrow { from: from.to_owned(), to: to.to_owned() };
        let all = [uses("redis", "seinpaal"), uses("redis", "embedded"), uses("cli", "seinpaal")];
        assert_eq!(upward(&all), all[..2]);
    }
}
