//! The list of public items is up to date, and it notices the changes that it must notice.

use std::{fs, path::Path};

use seinpaal_public_api::{of_this_workspace, public_api};

#[test]
fn what_users_can_name_is_what_public_api_txt_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seinpaal/public-api.txt");
    let written = fs::read_to_string(&file).unwrap();
    let found = of_this_workspace().unwrap();
    let lost: Vec<_> =
        written.lines().filter(|line| !found.lines().any(|other| other == *line)).collect();
    let new: Vec<_> =
        found.lines().filter(|line| !written.lines().any(|other| other == *line)).collect();
    assert!(
        written == found,
        "users would notice this change. If it is meant, say so in CHANGELOG.md and run\n    \
         cargo run -p seinpaal-public-api > crates/seinpaal/public-api.txt\nno longer there: {lost:#?}\nnew: {new:#?}"
    );
}

/// The public items of a crate with this `lib.rs` and a module file `inner.rs`.
fn api_of(lib: &str, inner: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("src");
    fs::create_dir(&sources).unwrap();
    fs::write(sources.join("lib.rs"), lib).unwrap();
    fs::write(sources.join("inner.rs"), inner).unwrap();
    public_api("shop", &[("shop", folder.path())]).unwrap()
}

#[test]
fn an_item_that_a_private_module_passes_on_is_listed_where_users_find_it() {
    let api = api_of(
        "mod inner; pub use inner::Jar;",
        "pub struct Jar { pub lid: u8, glass: u8 } pub struct Box;",
    );
    assert_eq!(api, "shop::Jar\n    pub struct Jar { pub lid: u8, _ }\n");
}

#[test]
fn methods_and_traits_are_listed_with_the_type_wherever_they_are_written() {
    let lib = "mod inner; pub struct Jar; impl Drop for Jar { fn drop(&mut self) {} }";
    let inner = "use crate::Jar; impl Jar { pub fn open(mut self, by: u8) -> Self { self } fn leak(&self) {} }";
    let said = "shop::Jar\n    pub struct Jar;\n        impl Drop for Jar\n        pub fn open(self, by: u8) -> Self\n";
    assert_eq!(api_of(lib, inner), said);
}

#[test]
fn the_list_marks_conditions_and_hidden_items() {
    let lib = "#[cfg(feature = \"wide\")] pub mod inner; #[doc(hidden)] pub fn peek() {}";
    let api = api_of(lib, "pub const WIDTH: u8 = 3;");
    assert!(api.contains("shop::inner\n    #[cfg(feature = \"wide\")] pub mod\n"), "{api}");
    assert!(api.contains("shop::inner::WIDTH\n    pub const WIDTH: u8 = 3;\n"), "{api}");
    assert!(api.contains("shop::peek\n    #[doc(hidden)] pub fn peek()"), "{api}");
}

#[test]
fn a_second_way_to_an_item_names_the_first() {
    let api = api_of("pub mod inner; pub use inner::Jar;", "pub struct Jar;");
    assert_eq!(
        api,
        "shop::Jar\n    pub struct Jar;\nshop::inner\n    pub mod\nshop::inner::Jar\n    pub use shop::Jar\n"
    );
}

#[test]
fn what_stands_in_tests_or_is_passed_on_within_the_crate_only_is_not_listed() {
    let lib =
        "mod inner; pub(crate) use inner::Jar; #[cfg(test)] pub mod tests { pub struct Probe; }";
    assert_eq!(api_of(lib, "pub struct Jar;"), "");
}

#[test]
fn a_macro_of_ours_that_writes_items_is_listed_with_its_calls() {
    let api = api_of(
        "mod inner;",
        "macro_rules! jar { ($n:ident) => { pub struct $n; } } jar!(Small); jar!(Large);",
    );
    assert!(api.contains("shop::inner::jar!\n    macro_rules! jar"), "{api}");
    assert!(api.contains("jar!(Small);") && api.contains("jar!(Large);"), "{api}");
}
