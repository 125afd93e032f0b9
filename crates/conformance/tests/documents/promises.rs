//! The tests, models and runs that the guarantees name exist.

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

/// The texts in backquotes that can only be names of tests: lower-case words with at least four
/// underscores.
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

/// The rows of the table whose first line begins with `head`, cell by cell.
fn table<'a>(text: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    let from = text.lines().skip_while(|line| !line.starts_with(head));
    let rows = from.take_while(|line| line.starts_with('|'));
    let cells = |row: &'a str| row.trim_matches('|').split('|').map(str::trim).collect();
    rows.filter(|row| !row.starts_with("|---")).map(cells).collect()
}

/// The promise table: each pair of promise and store, with the promise.
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

/// The evidence for one cell of the promise table.
#[derive(Debug)]
struct Proof {
    cell: (String, String),
    /// The reason for which the cell is not promised. Empty if the cell is promised.
    unpromised: String,
    tests: String,
    models: String,
    torture: String,
}

/// The section "What stands behind each cell", with each list item or heading on one line.
fn proof_lines(text: &str) -> Vec<String> {
    let from = text.lines().skip_while(|line| *line != "## What stands behind each cell").skip(1);
    let mut lines: Vec<String> = Vec::new();
    for line in from.take_while(|line| !line.starts_with("## ")) {
        let begins_anew = ["#", "- **", "  - "].iter().any(|start| line.starts_with(start));
        match lines.last_mut() {
            Some(last) if !begins_anew => last.push_str(&format!(" {}", line.trim())),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The proofs in the order of the page: a heading for each promise, an item for each store.
fn proofs(text: &str) -> Vec<Proof> {
    let (mut proofs, mut promise) = (Vec::new(), None);
    for line in proof_lines(text) {
        if let Some(heading) = line.strip_prefix("### Proof: ") {
            promise = Some(heading.to_owned());
        } else if let (Some(promise), Some(store)) = (&promise, line.strip_prefix("- **")) {
            proofs.push(proof(promise, store));
        } else if let (Some(proof), Some(evidence)) = (proofs.last_mut(), line.strip_prefix("  - "))
        {
            add(proof, evidence);
        }
    }
    proofs
}

/// The proof that this list item begins, without its evidence.
fn proof(promise: &str, item: &str) -> Proof {
    let (store, rest) = item.split_once("**").expect("a store in bold");
    let unpromised = rest.trim_start_matches(':').trim().to_owned();
    let [tests, models, torture] = [const { String::new() }; 3];
    Proof { cell: (promise.to_owned(), store.to_owned()), unpromised, tests, models, torture }
}

fn add(proof: &mut Proof, evidence: &str) {
    let (kind, names) = evidence.split_once(": ").expect("a kind of evidence");
    let part = match kind {
        "tests" => &mut proof.tests,
        "models" => &mut proof.models,
        "torture" => &mut proof.torture,
        _ => panic!("{kind} is no kind of evidence: {evidence}"),
    };
    assert!(part.is_empty(), "{kind} stands twice behind {:?}", proof.cell);
    *part = names.to_owned();
}

#[test]
fn every_cell_of_the_promise_table_has_an_entry_that_says_what_stands_behind_it() {
    let text = document("docs/guarantees.md");
    let (proofs, promises) = (proofs(&text), promises(&text));
    let proved: Vec<_> = proofs.iter().map(|proof| &proof.cell).collect();
    let cells: Vec<_> = promises.iter().map(|(cell, _)| cell).collect();
    assert_eq!(proved, cells, "an entry a cell, in the same order");
    for ((cell, promised), proof) in promises.iter().zip(&proofs) {
        let parts = [&proof.tests, &proof.models, &proof.torture];
        if promised == "–" || promised == "not promised" {
            assert!(proof.unpromised.starts_with("not promised: "), "{cell:?}: {proof:?}");
            assert!(
                parts.iter().all(|part| part.is_empty()),
                "{cell:?} is {promised:?}: {proof:?}"
            );
        } else {
            assert_eq!(proof.unpromised, "", "{cell:?} is {promised:?}");
            assert!(parts.iter().all(|part| !part.is_empty()), "{cell:?} has a gap: {proof:?}");
            assert!(in_backquotes(&proof.tests).count() > 0, "{cell:?} has no test");
        }
    }
}

/// Returns whether this store is put through this case, by docs/internals/proof/conformance.md.
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
    for proof in proofs(&text) {
        for test in in_backquotes(&proof.tests) {
            let is_there = match test.split_once("::") {
                Some((module, case)) => is_put_through(module, case),
                None => functions.contains(test),
            };
            assert!(is_there, "{test} is not there");
        }
        for model in in_backquotes(&proof.models) {
            assert!(is_quoted(&models, model), "there is no model {model}");
        }
        for run in in_backquotes(&proof.torture) {
            let is_there = match run.strip_prefix("torture --store ") {
                Some(kind) => is_quoted(&kinds, kind),
                None => is_quoted(&faults, run),
            };
            assert!(is_there, "{run} is nothing that the rig does");
        }
    }
}
