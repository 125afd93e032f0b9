//! Public documentation has the headings that callers need.

use std::{fs, path::Path};

use seinpaal_public_api::missing_docs;

#[test]
fn public_functions_say_how_they_fail_and_whether_they_can_be_dropped() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["seinpaal", "tower", "serve"] {
        let missing = missing_docs(name, &crates.join(name)).unwrap();
        assert!(missing.is_empty(), "say this in the documentation: {missing:#?}");
    }
}

#[test]
fn what_is_left_out_is_found_on_functions_methods_and_requests() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    let source = "
        /// Fails.
        pub fn fails() -> Result<(), u8> { Ok(()) }
        pub struct Jar;
        impl Jar {
            /// Waits. # Cancel safety
            pub async fn wait(&self) -> io::Result<()> { Ok(()) }
            /// Hidden.
            #[doc(hidden)] pub async fn hidden(&self) {}
            async fn inside(&self) {}
        }
        /// Asks.
        pub struct Ask;
        request!(Ask => Result<u8, u8>);
    ";
    fs::write(folder.path().join("src/lib.rs"), source).unwrap();
    let missing = missing_docs("shop", folder.path()).unwrap();
    let expected = [
        "shop::fails: # Errors",
        "shop::wait: # Examples",
        "shop::wait: # Errors",
        "shop::Ask: # Cancel safety",
    ];
    assert_eq!(missing, expected);
}
