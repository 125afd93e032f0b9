//! The documents are true of the tree: tests that they name are there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of the project") {
        let path = entry.expect("its entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn functions() -> BTreeSet<String> {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut functions = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file).expect("a file of the project");
        for definition in text.split("fn ").skip(1) {
            functions.insert(definition.chars().take_while(|c| is_part(*c)).collect());
        }
    }
    functions
}

/// What stands in backquotes and can only be the name of a test: lower-case words with four underscores.
fn named_tests(text: &str) -> Vec<&str> {
    let is_name = |word: &&str| {
        word.matches('_').count() > 3 && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    };
    text.split('`').skip(1).step_by(2).filter(is_name).collect()
}

#[test]
fn every_test_that_the_guarantees_name_exists() {
    let text = fs::read_to_string(root().join("docs/guarantees.md")).expect("docs/guarantees.md");
    let (named, functions) = (named_tests(&text), functions());
    assert!(named.len() > 30, "only {} tests are named", named.len());
    let missing: Vec<_> = named.iter().filter(|name| !functions.contains(**name)).collect();
    assert!(missing.is_empty(), "named but not there: {missing:?}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut documents = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for entry in fs::read_dir(root().join("docs")).expect("docs") {
        documents.push(entry.expect("its entry").path());
    }
    for document in documents.iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        let text = fs::read_to_string(document).expect("a document");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") {
                let path = document.parent().expect("its directory").join(target);
                assert!(path.exists(), "{} links to {link}", document.display());
            }
        }
    }
}
