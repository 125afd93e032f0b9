//! Nothing in this crate can wait, read a clock or draw a random number. It is `no_std`, so none of
//! these is within its reach, and it has no dependency that could provide them.

use std::{fs, path::Path};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .expect("a file of this crate")
}

#[test]
fn the_crate_is_no_std_in_every_build() {
    let lib = read("src/lib.rs");
    let attributes: Vec<&str> = lib.lines().filter(|line| line.starts_with("#![")).collect();
    assert!(attributes.contains(&"#![no_std]"), "{attributes:?}");
    assert!(attributes.contains(&"#![forbid(unsafe_code)]"), "{attributes:?}");
}

#[test]
fn only_tests_see_the_standard_library() {
    let lib = read("src/lib.rs");
    let lines: Vec<&str> = lib.lines().collect();
    let std = lines.iter().position(|line| line.contains("extern crate std"));
    assert_eq!(std.map(|at| lines[at - 1]), Some("#[cfg(test)]"));
    assert_eq!(lib.matches("extern crate").count(), 2, "alloc, and std for tests");
}

#[test]
fn the_crate_depends_on_nothing_and_its_tests_on_drawn_numbers_alone() {
    let manifest = read("Cargo.toml");
    let tables: Vec<&str> = manifest.lines().filter(|line| line.starts_with('[')).collect();
    let expected = ["[package]", "[lints]", "[features]", "[dependencies]", "[dev-dependencies]"];
    assert_eq!(tables, expected);
    let (_, dependencies) = manifest.split_once("[dependencies]").expect("the table is there");
    let (own, of_tests) =
        dependencies.split_once("[dev-dependencies]").expect("the table is there");
    assert_eq!(own.trim(), "", "nothing may follow the heading");
    assert_eq!(of_tests.trim(), "fastrand.workspace = true");
    assert!(!manifest.contains("build ="), "no build script either");
}
