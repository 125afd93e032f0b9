//! The layers are in order: no crate uses a later one, and files do not use each other in a circle.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use house::{
    graph::{between_modules, circles, shown},
    layers,
    source::Crate,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The circles of the crate in this directory, each as the names of its modules.
fn circles_of(directory: &Path) -> Vec<String> {
    let arrows = between_modules(&Crate::read(&directory.join("src")).arrows());
    let name = |circle: &BTreeSet<_>| circle.iter().map(shown).collect::<Vec<_>>().join(" ");
    circles(&arrows).iter().map(name).collect()
}

#[test]
fn every_crate_has_a_layer() {
    let listed =
        layers::PRODUCT.iter().chain(layers::PROOF).flat_map(|layer| layer.iter().copied());
    let mut listed: Vec<&str> = listed.collect();
    let mut found = layers::crates(&root());
    listed.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, listed, "give the crate a place in crates/house/src/layers.rs");
}

#[test]
fn no_crate_uses_a_later_layer_or_a_neighbour() {
    let arrows = layers::arrows(&root());
    assert!(arrows.len() > 20, "only {} arrows were found between crates", arrows.len());
    assert_eq!(layers::upward(&arrows), [], "these dependencies run upward");
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let each = layers::crates(&root()).into_iter().flat_map(|name| {
        let found = circles_of(&root().join("crates").join(&name));
        found.into_iter().map(move |circle| (name.clone(), circle))
    });
    let found: Vec<(String, String)> = each.collect();
    assert_eq!(found, [], "`cargo run -p house -- imports` shows the arrows of each circle");
}

#[test]
fn a_planted_circle_is_found_through_what_a_file_passes_on() {
    let crate_of_two = Path::new(env!("CARGO_TARGET_TMPDIR")).join("planted-circle");
    let src = crate_of_two.join("src");
    fs::create_dir_all(src.join("b")).expect("a directory for the planted crate");
    let write = |name: &str, text: &str| fs::write(src.join(name), text).expect("a planted file");
    write("lib.rs", "mod a; mod b; pub use b::B;");
    write("a.rs", "pub struct A; fn f() { g(crate::B); }");
    write("b.rs", "mod c; pub use c::B;");
    write("b/c.rs", "pub struct B(crate::a::A);");
    assert_eq!(circles_of(&crate_of_two), ["a b::c"]);

    write("b/c.rs", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }");
    assert_eq!(circles_of(&crate_of_two), [] as [String; 0]);
}
