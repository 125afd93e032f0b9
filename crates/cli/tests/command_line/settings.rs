//! Tests of the choice of the store.

use std::{fs, os::unix::fs::symlink};

use super::support::World;

/// Returns the line of `-v` about the store and the place that named it.
fn chosen(world: &World, variable: Option<&str>, args: &[&str]) -> String {
    let mut command = world.command(&[&["-v", "list"], args].concat());
    match variable {
        Some(value) => command.env("SEINPAAL_STORE", value),
        None => command.env_remove("SEINPAAL_STORE"),
    };
    let output = command.output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    err.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_flag_comes_before_a_variable_before_the_configuration_before_the_default() {
    let world = World::embedded();
    let place = |name: &str| format!("file://{}/{name}", world.root().display());
    let (flag, file, variable, config) = (place("f"), place("p"), place("v"), place("c"));
    assert!(chosen(&world, None, &[]).contains("file: (the default)"));
    fs::create_dir_all(world.path("config/seinpaal")).unwrap();
    fs::write(world.path("config/seinpaal/config.toml"), format!("store = {config:?}\n")).unwrap();
    fs::write(world.path("url"), format!("{file}\n")).unwrap();
    assert!(chosen(&world, None, &[]).contains(&format!("{config} (")));
    assert!(chosen(&world, Some(""), &[]).contains(&format!("{config} (")));
    let said = chosen(&world, Some(&variable), &[]);
    assert!(said.contains(&format!("{variable} (SEINPAAL_STORE)")), "{said}");
    assert!(
        chosen(&world, Some(&variable), &["--store-file", "url"]).contains(&format!("{file} ("))
    );
    assert!(chosen(&world, Some(&variable), &["-s", &flag]).contains(&format!("{flag} (--store)")));
}

#[test]
fn flags_for_all_commands_stand_before_or_after_the_command() {
    let world = World::embedded();
    for args in [
        ["--json", "-s", &world.store, "limit", "a"],
        ["limit", "a", "--json", "--store", &world.store],
        ["limit", "-s", &world.store, "--json", "a"],
    ] {
        assert_eq!(world.seinpaal(&args).out, "{\"name\":\"a\",\"limit\":1}\n", "{args:?}");
    }
}

#[test]
fn what_is_wrong_in_a_configuration_is_78_in_one_line_without_secrets() {
    let world = World::embedded();
    fs::create_dir_all(world.path("config/seinpaal")).unwrap();
    for text in [
        "store = \"redis://:hunter2@h?nonsense=1\"",
        "store = \"redis://:hunter2@h",
        "store = 7 # hunter2",
        "shop = \"redis://:hunter2@h\"",
    ] {
        fs::write(world.path("config/seinpaal/config.toml"), text).unwrap();
        let mut command = world.command(&["list"]);
        let output = command.env_remove("SEINPAAL_STORE").output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.lines().count()), (Some(78), 1), "{text}: {err}");
        assert!(!err.contains("hunter2"), "{err}");
    }
    let done = world.seinpaal(&["--store-file", "/no/such/file", "list"]);
    assert_eq!((done.code, done.err.lines().count()), (78, 1));
}

#[test]
fn a_configuration_that_cannot_be_reached_is_78_and_not_the_default_store() {
    let world = World::embedded();
    fs::create_dir_all(world.path("config/seinpaal")).unwrap();
    let file = world.path("config/seinpaal/config.toml");
    let run = |variables: &[(&str, &str)]| {
        let mut command = world.command(&["run", "-v", "a", "true"]);
        command.env_remove("SEINPAAL_STORE").envs(variables.iter().copied());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, err) = run(&[]);
    assert!(code == Some(0) && err.contains("store file: (the default)"), "{err}");
    symlink("/no/such/file", &file).unwrap();
    let dangling = run(&[]);
    fs::remove_file(&file).unwrap();
    symlink("config.toml", &file).unwrap();
    let circular = run(&[]);
    fs::write(world.path("plain"), "").unwrap();
    let below_a_file = run(&[("XDG_CONFIG_HOME", world.path("plain").to_str().unwrap())]);
    for (code, err) in [dangling, circular, below_a_file] {
        assert_eq!((code, err.lines().count()), (Some(78), 1), "{err}");
        assert!(err.contains("config.toml"), "{err}");
    }
}

#[test]
fn an_empty_variable_is_told_unless_a_flag_names_the_store() {
    let world = World::embedded();
    let err = |args: &[&str]| {
        let output = world.command(args).env("SEINPAAL_STORE", "").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = err(&["run", "a", "true"]);
    assert!(said.lines().count() == 1 && said.contains("SEINPAAL_STORE is empty"), "{said}");
    assert!(said.contains("file: (the default)"), "{said}");
    assert_eq!(err(&["-s", &world.store, "run", "a", "true"]), "");
    assert_eq!(err(&["-q", "run", "a", "true"]), "");
}

#[test]
fn a_password_shows_nowhere() {
    let world = World::embedded();
    let url = "redis://ann:hunter2@127.0.0.1:1/?connect-timeout=50ms";
    let mut command = world.command(&["-v", "run", "a", "true"]);
    let output = command.env("SEINPAAL_STORE", url).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(69), "{err}");
    assert!(err.contains("ann@127.0.0.1") && !err.contains("hunter2"), "{err}");
}

#[test]
fn a_file_with_a_password_that_others_can_read_is_warned_of_in_one_line() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::with_redis(&["--requirepass", "s3cret"]);
    let file = world.path("url");
    for (text, mode, is_warned) in [
        (format!("{}?pass=s3cret", world.store), 0o644, true),
        (format!("{}?pass=s3cret", world.store), 0o640, true),
        (format!("{}?pass=s3cret", world.store), 0o600, false),
        ("file:".to_owned(), 0o644, false),
    ] {
        fs::write(&file, &text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let done = world.seinpaal(&["--store-file", "url", "run", "a", "true"]);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(done.err.lines().count(), usize::from(is_warned), "{text} {mode:o}: {done:?}");
        assert!(!done.err.contains("s3cret"), "{done:?}");
        let done = world.seinpaal(&["-q", "--store-file", "url", "run", "a", "true"]);
        assert_eq!(done.err, "");
    }
}
