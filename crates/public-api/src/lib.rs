//! The public API as text: every item that users of the library can name from the root of a crate,
//! with its fields, methods and traits. The text of `seinpaal` stands in
//! `crates/seinpaal/public-api.txt`, so a change that users would notice is a change of that file.
//!
//! The text is made from the source, without a compiler, so it does not depend on the version of
//! Rust. Macros of ours are not expanded. The text lists the macro and its calls instead.
#![forbid(unsafe_code)]

use std::{io, path::Path};

mod docs;
mod face;
mod resolve;
mod said;
mod tree;

/// The public items of the crate `root`, as text.
///
/// `crates` names each crate whose items may be re-exported, as code does (`seinpaal_proto`), and
/// its folder.
///
/// # Errors
/// If a source file cannot be read, or is not Rust.
pub fn public_api(root: &str, crates: &[(&str, &Path)]) -> io::Result<String> {
    let mut tree = tree::Tree::default();
    for (name, folder) in crates {
        tree.read(name, &folder.join("src"))?;
    }
    Ok(face::face(&tree, root))
}

/// The public items of `seinpaal`, as text.
///
/// # Errors
/// If a source file of this workspace cannot be read, or is not Rust.
pub fn of_this_workspace() -> io::Result<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let layers = ["proto", "store", "embedded", "redis", "zookeeper"];
    let layers = layers.map(|folder| (format!("seinpaal_{folder}"), crates.join(folder)));
    let api = ("seinpaal".to_owned(), crates.join("seinpaal"));
    let all: Vec<_> = layers.into_iter().chain([api]).collect();
    let all: Vec<_> = all.iter().map(|(name, folder)| (name.as_str(), folder.as_path())).collect();
    public_api("seinpaal", &all)
}

/// The headings that are missing in the documentation of a crate's public functions and requests,
/// as lines `path: heading`. An `async fn` says whether it can be dropped and shows an example, and
/// a function that can fail says how.
///
/// # Errors
/// If a source file cannot be read, or is not Rust.
pub fn missing_docs(name: &str, folder: &Path) -> io::Result<Vec<String>> {
    let mut tree = tree::Tree::default();
    tree.read(name, &folder.join("src"))?;
    Ok(docs::missing(&tree))
}
