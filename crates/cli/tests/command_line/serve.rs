//! `serve`: the advice of a program that was built without it, and the first look at its pages.

use super::support::World;

#[cfg(not(feature = "serve"))]
#[test]
fn a_program_without_pages_says_how_to_build_one_that_has_them() {
    let output = World::embedded().command(&["serve"]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{err}");
    assert!(err.contains("--features serve") && err.lines().count() == 1, "{err}");
}

#[cfg(feature = "serve")]
#[test]
fn pages_for_others_than_this_machine_need_tokens() {
    let world = World::embedded();
    let output = world.command(&["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{err}");
    assert!(err.contains("--token-file") && err.lines().count() == 1, "{err}");
}

#[cfg(feature = "serve")]
#[test]
fn what_the_guide_has_typed_leads_to_a_page_that_says_who_holds_and_why_somebody_waits() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/first-look");
    let output =
        std::process::Command::new(script).arg(super::support::program()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("its page says why one waits"), "{said}");
    assert!(said.contains("Full: 1 of 1 held. 1 has waited for"), "{said}");
}
