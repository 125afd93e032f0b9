//! For every mistake there is a check that finds it: a short run of the program, in every test run
//! of the project.

use std::process::Command;

#[test]
fn every_planted_mistake_is_caught_by_the_check_that_is_known_to_catch_it() {
    let output = Command::new(env!("CARGO_BIN_EXE_planted")).arg("quick").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.lines().count() > 12, "{said}");
}
