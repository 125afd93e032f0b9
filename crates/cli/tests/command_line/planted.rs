//! Tests that the shipped program contains no planted mistakes.

use std::fs;

fn is_in_the_program(text: &str) -> bool {
    let program = fs::read(super::support::program()).unwrap();
    program.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn the_program_has_no_planted_mistakes_in_it() {
    assert!(is_in_the_program("SEINPAAL_STORE"), "variables can be found in it at all");
    assert!(!is_in_the_program("BUILT TO FAIL"));
}
