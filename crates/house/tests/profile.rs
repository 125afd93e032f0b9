//! The development profile optimises every crate that it does not name, so it has to name every
//! crate of ours.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of our packages, by their manifests.
fn packages() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let manifests = folders.map(|folder| read(&folder.unwrap().path().join("Cargo.toml")));
    let name = |manifest: String| {
        let line = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        line.expect("a name").trim_matches('"').to_owned()
    };
    manifests.map(name).collect()
}

/// The packages that the profile names, each with its setting.
fn named() -> Vec<(String, String)> {
    let manifest = read(&root().join("Cargo.toml"));
    let lines = manifest.lines().skip_while(|line| *line != "[profile.dev.package]").skip(1);
    let section = lines.take_while(|line| !line.starts_with('['));
    let pairs = section.filter_map(|line| line.split_once(" = "));
    pairs.map(|(name, what)| (name.to_owned(), what.to_owned())).collect()
}

#[test]
fn the_development_profile_says_how_much_each_crate_of_ours_is_optimised() {
    let named = named();
    let is_named = |package: &String| {
        named.iter().any(|(name, what)| name == package && what.contains("opt-level = "))
    };
    let missing: Vec<String> =
        packages().into_iter().filter(|package| !is_named(package)).collect();
    assert!(missing.is_empty(), "add to [profile.dev.package] in Cargo.toml: {missing:?}");
    assert!(packages().len() > 15, "{named:?}");
}
