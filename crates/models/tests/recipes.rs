//! The recipes fail as `docs/guide/recipes.md` says.

use std::{fs, path::Path};

use seinpaal_models::recipes::book;

#[test]
fn every_recipe_fails_and_the_page_says_how() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/recipes.md");
    let page = fs::read_to_string(page).expect("docs/guide/recipes.md");
    let book = book();
    assert!(!book.contains("No fault was found"), "a recipe without a fault");
    assert!(
        page == book,
        "docs/guide/recipes.md is out of date: cargo run -p seinpaal-models -- recipes > docs/guide/recipes.md"
    );
}
