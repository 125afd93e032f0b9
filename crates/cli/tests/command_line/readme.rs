//! Tests that the lines of README and of the first steps work unchanged.

use std::process::Stdio;

use super::support::{Held, World, program};

const README: &str = include_str!("../../../../README.md");
const FIRST_STEPS: &str = include_str!("../../../../docs/guide/first-steps.md");

/// Returns the first typed line of README.
fn first_command() -> &'static str {
    README.lines().find_map(|line| line.strip_prefix("$ ")).unwrap()
}

#[test]
fn the_first_command_of_the_readme_works_as_it_stands() {
    let world = World::embedded();
    let built =
        first_command().strip_prefix("cargo build && ").expect("it builds the program first");
    // A link to the tested program stands in the place of the built program.
    std::fs::create_dir_all(world.path("target/debug")).unwrap();
    let program = program();
    std::os::unix::fs::symlink(program, world.path("target/debug/seinpaal")).unwrap();
    let mut command = world.shell_command(built);
    command.env_remove("SEINPAAL_STORE").env_remove("XDG_DATA_HOME").env_remove("XDG_RUNTIME_DIR");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (out, err) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    for job in 1..=6 {
        assert!(out.contains(&format!("job {job} has slot ")), "{out}");
    }
    assert!(out.lines().all(|line| line.ends_with("slot 0") || line.ends_with("slot 1")), "{out}");
    assert_eq!(err.matches(": got slot ").count(), 6, "{err}");
    assert!(err.contains("demo: waiting, 0 ahead"), "{err}");
    let is_expected = |line: &str| {
        line.starts_with("seinpaal: demo: ") || line == "seinpaal: store file: (the default)"
    };
    assert!(err.lines().all(is_expected), "{err}");
}

#[test]
fn an_eviction_is_told_as_the_first_steps_show_it() {
    let shown = FIRST_STEPS.lines().find(|line| line.starts_with("seinpaal: backup (file:)"));
    let world = World::embedded();
    let (mut held, _) = Held::hold(&world, &["backup"]);
    let ticket = world.show("backup")["holders"][0]["ticket"].as_str().unwrap().to_owned();
    assert_eq!(world.seinpaal(&["evict", "backup", &ticket[..8]]).code, 0);
    let done = held.end();
    assert_eq!(done.code, 122, "{done:?}");
    let store = world.store.split('?').next().unwrap();
    assert_eq!(Some(done.err.trim_end().replace(store, "file:").as_str()), shown);
}
