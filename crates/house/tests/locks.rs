//! The benchmark, the fuzz programs and the Python package are workspaces of their own and have
//! lock files of their own. `--locked` refuses a lock file that lacks a dependency of a crate here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const WORKSPACES: [&str; 3] = ["bench", "fuzz", "python"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text between the first two quotation marks of a line.
fn quoted(line: &str) -> Option<&str> {
    line.split('"').nth(1)
}

/// Our crates in a lock file, each with its dependencies there.
fn locked(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let ours = lock.split("[[package]]").filter(|package| !package.contains("\nsource = "));
    let facts = ours.filter_map(|package| {
        let name = quoted(package.lines().find(|line| line.starts_with("name = "))?)?;
        let listed = package.lines().filter(|line| line.starts_with(" \"")).filter_map(quoted);
        let names = listed.filter_map(|one| one.split(' ').next()).map(str::to_owned);
        Some((name.to_owned(), names.collect()))
    });
    facts.collect()
}

/// The dependencies that a crate has with any features: neither optional ones nor those of tests.
fn needed(manifest: &str) -> BTreeSet<String> {
    let mut is_of_all = false;
    let mut names = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_of_all = line.ends_with("dependencies]")
                && !line.contains("dev-dependencies")
                && !line.contains("workspace.");
        } else if let Some((name, rest)) = line.split_once('=').filter(|_| is_of_all)
            && !line.starts_with([' ', '#'])
            && !rest.contains("optional = true")
        {
            let name = name.trim().trim_end_matches(".workspace");
            let renamed = rest.split_once("package = ").and_then(|(_, package)| quoted(package));
            names.insert(renamed.unwrap_or(name).to_owned());
        }
    }
    names
}

/// The name of a manifest's crate.
fn name(manifest: &str) -> &str {
    let line = manifest.lines().find(|line| line.starts_with("name = "));
    line.and_then(quoted).expect("a manifest names its crate")
}

/// All that a manifest lists as dependencies of shipped code, optional ones included.
fn listed(manifest: &str) -> BTreeSet<String> {
    needed(&manifest.replace("optional = true", ""))
}

/// A registry refuses a crate whose dependencies it does not have.
#[test]
fn a_crate_that_can_be_published_needs_none_that_cannot() {
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let manifests = folders.map(|folder| read(&folder.unwrap().path().join("Cargo.toml")));
    let (kept, published): (Vec<_>, Vec<_>) =
        manifests.partition(|manifest| manifest.contains("publish = false"));
    let kept: BTreeSet<_> = kept.iter().map(|manifest| name(manifest)).collect();
    assert!(kept.contains("house") && published.len() > 4, "{kept:?}");
    for manifest in &published {
        let mut needed = listed(manifest);
        needed.retain(|one| kept.contains(&**one));
        assert!(needed.is_empty(), "{} needs {needed:?}, which stay here", name(manifest));
    }
}

/// Our crates by name, each with the dependencies that it always has.
fn crates() -> BTreeMap<String, BTreeSet<String>> {
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let facts = folders.map(|folder| {
        let manifest = read(&folder.unwrap().path().join("Cargo.toml"));
        (name(&manifest).to_owned(), needed(&manifest))
    });
    facts.collect()
}

#[test]
fn every_lock_file_knows_what_our_crates_depend_on() {
    let crates = crates();
    for workspace in WORKSPACES {
        let locked = locked(&read(&root().join(workspace).join("Cargo.lock")));
        let ours: Vec<_> = locked.iter().filter(|(name, _)| crates.contains_key(*name)).collect();
        assert!(ours.len() > 4, "{workspace}/Cargo.lock has {} of our crates", ours.len());
        for (name, known) in ours {
            let unknown: Vec<_> = crates[name].difference(known).collect();
            assert!(
                unknown.is_empty(),
                "{workspace}/Cargo.lock does not know that {name} needs {unknown:?}: run `cargo update --workspace` there"
            );
        }
    }
}
