//! A name of a type stands for one idea.

use std::path::Path;

use house::names::{shared, twins};

/// The page lists every name that two files define, with the difference between the two. A name
/// that only one file defines must not be on the page.
#[test]
fn every_name_that_two_files_define_is_on_the_page_of_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (shared, twins) = (shared(&root), twins(&root));
    let unlisted: Vec<_> = shared.iter().filter(|(name, _)| !twins.contains(*name)).collect();
    assert!(
        unlisted.is_empty(),
        "rename one, or list both in docs/internals/names.md: {unlisted:#?}"
    );
    let single: Vec<_> = twins.iter().filter(|name| !shared.contains_key(*name)).collect();
    assert!(single.is_empty(), "docs/internals/names.md lists names of one type: {single:?}");
}
