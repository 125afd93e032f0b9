//! What the guarantees name is there: tests, models and runs.

use std::{collections::BTreeSet, fs};

use super::tree::{files, in_backquotes, root, text as document};

fn functions() -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut functions = BTreeSet::new();
    for file in files(&root().join("crates"), "rs") {
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
    in_backquotes(text).filter(is_name).collect()
}

#[test]
fn every_test_that_the_guarantees_name_exists() {
    let text = document("docs/guarantees.md");
    let (named, functions) = (named_tests(&text), functions());
    assert!(named.len() > 30, "only {} tests are named", named.len());
    let missing: Vec<_> = named.iter().filter(|name| !functions.contains(**name)).collect();
    assert!(missing.is_empty(), "named but not there: {missing:?}");
}

/// The rows of the table whose head begins so, cell by cell.
fn table<'a>(text: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let from = text.lines().skip_while(|line| !line.starts_with(head));
    let rows = from.take_while(|line| line.starts_with('|'));
    let cells = |row: &'a str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.filter(|row| !row.starts_with("|---")).map(cells).collect()
}

/// The promise table, as pairs of promise and store, with what is promised.
fn promises(text: &str) -> Vec<((String, String), String)> {
    let rows = table(text, "| | memory");
    let (head, rows) = rows.split_first().expect("the promise table");
    let cells = |row: &Vec<&str>| {
        let stores = head.iter().zip(row).skip(1);
        let promised = stores.map(|(store, cell)| (store.to_string(), cell.to_string()));
        let of = row[0].to_owned();
        promised.map(|(store, cell)| ((of.clone(), store), cell)).collect::<Vec<_>>()
    };
    rows.iter().flat_map(cells).collect()
}

#[test]
fn every_cell_of_the_promise_table_has_a_row_that_says_what_stands_behind_it() {
    let text = document("docs/guarantees.md");
    let behind = table(&text, "| promise | store");
    let proofs: Vec<_> =
        behind[1..].iter().map(|row| (row[0].to_owned(), row[1].to_owned())).collect();
    let promises = promises(&text);
    let cells: Vec<_> = promises.iter().map(|(cell, _)| cell.clone()).collect();
    assert_eq!(proofs, cells, "a row a cell, in the same order");
    for ((cell, promised), row) in promises.iter().zip(&behind[1..]) {
        let is_promised = promised != "–" && promised != "not promised";
        assert!(row.len() == 5 && row.iter().all(|part| !part.is_empty()), "{cell:?} has a gap");
        let tests = in_backquotes(row[2]).count();
        assert_eq!(
            is_promised,
            tests > 0,
            "{cell:?} is {promised:?}, and its tests are {}",
            row[2]
        );
        assert!(is_promised || row[2].starts_with("not promised"), "{cell:?}: {}", row[2]);
    }
}

/// Whether this store is put through this case, as docs/internals/proof/conformance.md has it.
fn is_put_through(module: &str, case: &str) -> bool {
    let store = match module {
        "redis_cluster" => "cluster",
        "sentinel_replicated" => "sentinel",
        other => other,
    };
    let text = document("docs/internals/proof/conformance.md");
    let rows = table(&text, "| case |");
    let column = rows[0].iter().position(|name| *name == store);
    let words = case.replace('_', " ");
    let row =
        rows.iter().find(|row| row[0].split_once(": ").is_some_and(|(_, name)| name == words));
    column.zip(row).is_some_and(|(column, row)| row[column] == "passed")
}

#[test]
fn what_is_named_behind_a_promise_is_there() {
    let (text, functions) = (document("docs/guarantees.md"), functions());
    let models = document("crates/models/src/list.rs");
    let (kinds, faults) =
        (document("crates/torture/src/kind.rs"), document("crates/torture/src/fault.rs"));
    let is_quoted = |source: &str, word: &str| source.contains(&format!("\"{word}\""));
    for row in &table(&text, "| promise | store")[1..] {
        for test in in_backquotes(row[2]) {
            let is_there = match test.split_once("::") {
                Some((module, case)) => is_put_through(module, case),
                None => functions.contains(test),
            };
            assert!(is_there, "{test} is not there");
        }
        for model in in_backquotes(row[3]) {
            assert!(is_quoted(&models, model), "there is no model {model}");
        }
        for run in in_backquotes(row[4]) {
            let is_there = match run.strip_prefix("torture --store ") {
                Some(kind) => is_quoted(&kinds, kind),
                None => is_quoted(&faults, run),
            };
            assert!(is_there, "{run} is nothing that the rig does");
        }
    }
}
