//! The scripts know all fields of the ledger's heads, and the page about the store lists them.

use std::{collections::BTreeSet, fs, path::Path};

use super::*;
use crate::{
    queue::pieces::QUEUE,
    script::{FORMS, SCRIPTS},
};

const WORDS: [&str; 9] = [
    "FORM_OF_HEAD",
    "SIZE_OF_HEAD",
    "FIELDS_OF_HEAD",
    "BLANKS_OF_HEAD",
    "TABLE_OF_HEAD",
    "UNTOUCHED_HEAD",
    "HEAD_AS_PACKED",
    "HEAD_WITH",
    "NOTE_HOLD",
];

fn names(layout: &HeadLayout) -> Vec<&'static str> {
    layout.slots.iter().map(|slot| slot.name).collect()
}

/// The fields that scripts keep elsewhere, behind the numbers or in a field of the hash, and only
/// while they have a value.
const BEHIND_NAMES: [&str; 2] = ["names", "paused"];
const BEHIND_QUEUES: [&str; 7] =
    ["paused", "idle", "called", "wanted", "watch", "watch_at", "reopen"];

#[test]
fn every_field_of_the_ledger_has_one_place() {
    let cases = [
        (names(&NAMES), Head::default().fields().map(|(name, _)| name).to_vec(), &BEHIND_NAMES[..]),
        (
            names(&QUEUES),
            queue::Head::default().fields().map(|(name, _)| name).to_vec(),
            &BEHIND_QUEUES[..],
        ),
    ];
    for (places, fields, behind) in cases {
        for field in fields {
            let there = places.iter().filter(|place| **place == field).count();
            assert_eq!(there, usize::from(!behind.contains(&field)), "{field}");
        }
    }
    assert_eq!(NAMES.slots.len(), PLACES_OF_NAMES.len(), "a place without a field");
    assert_eq!(QUEUES.slots.len(), PLACES_OF_QUEUES.len(), "a place without a field");
}

#[test]
fn no_word_is_left_in_a_script() {
    let names = SCRIPTS.iter().map(|row| NAMES.expand(row.source));
    for script in names.chain([NAMES.expand(FORMS), QUEUES.expand(QUEUE)]) {
        for word in WORDS {
            assert!(!script.contains(word), "{word}");
        }
    }
}

#[test]
fn a_script_gives_values_to_fields_that_there_are() {
    let known: BTreeSet<_> = names(&NAMES).into_iter().collect();
    let mut given = 0;
    for row in &SCRIPTS {
        for part in row.source.split("HEAD_WITH{").skip(1) {
            for (name, _) in values_by_name(part.split_once('}').unwrap().0) {
                assert!(known.contains(name), "{}: {name}", row.name);
                given += 1;
            }
        }
    }
    assert!(given > 0);
}

#[test]
fn given_values_take_the_places_of_their_fields() {
    let given = NAMES.expand("HEAD_WITH{ held = f(a, b), kind = 's' }");
    let blank = NAMES.expand("BLANKS_OF_HEAD");
    let (given, blank) = (given.replace("f(a, b)", "f"), blank.split(", ").collect::<Vec<_>>());
    for ((value, blank), name) in given.split(", ").zip(blank).zip(names(&NAMES)) {
        let expected = match name {
            "kind" => "'s'",
            "held" => "f",
            _ => blank,
        };
        assert_eq!(value, expected, "{name}");
    }
}

/// The formats on servers are a contract. A change of these lines needs another number of the
/// format.
#[test]
fn the_format_is_the_one_with_this_number() {
    assert_eq!(
        NAMES.expand("<BFORM_OF_HEADB 2+SIZE_OF_HEAD"),
        "<Bc1Bi4i4dddddddddddI4I4I4I4I4I4B 2+122"
    );
    assert_eq!(QUEUES.expand("<BBFORM_OF_HEAD 2+SIZE_OF_HEAD"), "<BBdddddddddddddddddddd 2+160");
}

#[test]
fn the_page_about_the_store_lists_the_fields_in_their_order() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/stores/redis.md");
    let page = fs::read_to_string(page).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for layout in [&NAMES, &QUEUES] {
        let listed = names(layout).join(" ");
        assert!(
            page.contains(&listed),
            "{} does not list `{listed}`",
            "docs/internals/stores/redis.md"
        );
    }
}
