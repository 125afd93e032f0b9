//! Tests of permits without a `run` around a command, and of the commands that print data.

use super::support::{Held, World};

fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn acquire_prints_a_ticket_that_outlives_it_until_released() {
    for world in [World::embedded(), World::redis()] {
        let done = world.seinpaal(&["acquire", "a"]);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        let ticket = done.out.trim();
        assert_eq!(ticket.len(), 32);
        assert_eq!(world.seinpaal(&["acquire", "a", "-n"]).code, 75);
        let done = world.seinpaal(&["renew", "a", ticket, "--ttl", "1h"]);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
        let left = || world.show("a")["holders"][0]["valid_for_ms"].as_u64().unwrap();
        assert!(left() > 3_500_000);
        assert_eq!(world.seinpaal(&["renew", "a", ticket]).code, 0);
        assert!(left() > 3_500_000, "it shortens nothing unless asked to");
        assert_eq!(world.seinpaal(&["renew", "a", ticket, "--ttl", "1m"]).code, 0);
        assert!(left() <= 60_000);
        assert_eq!(world.seinpaal(&["release", "a", ticket]).code, 0);
        assert_eq!(world.show("a")["permits_held"], 0);
        assert_eq!(world.seinpaal(&["release", "a", ticket]).code, 122);
        assert_eq!(world.seinpaal(&["renew", "a", ticket]).code, 122);
    }
}

#[test]
fn a_renewal_without_a_ttl_uses_that_of_the_acquire() {
    for world in [World::embedded(), World::redis()] {
        let ticket = world.seinpaal(&["acquire", "a", "--ttl", "1h"]).out;
        assert_eq!(world.seinpaal(&["renew", "a", ticket.trim()]).code, 0);
        assert!(world.show("a")["holders"][0]["valid_for_ms"].as_u64().unwrap() > 3_500_000);
    }
}

#[test]
fn acquire_as_json_has_everything() {
    let world = World::redis();
    let done = world.seinpaal(&["acquire", "a", "-j", "3", "-p", "2", "--ttl", "10s", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let mut names = keys(&value);
    names.sort_unstable();
    assert_eq!(names, ["fence", "limit", "name", "permits", "slots", "ticket", "valid_for_ms"]);
    assert_eq!((&value["name"], &value["limit"]), (&"a".into(), &3.into()));
    assert_eq!((&value["slots"], &value["permits"]), (&serde_json::json!([0, 1]), &2.into()));
    let valid = value["valid_for_ms"].as_u64().unwrap();
    assert!((5_000..=10_000).contains(&valid), "{valid}");
}

#[test]
fn an_unknown_ticket_is_122_and_changes_nothing() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a"]);
    let unknown = "0123456789abcdef0123456789abcdef";
    for command in ["release", "renew", "evict"] {
        let done = world.seinpaal(&[command, "a", unknown]);
        assert_eq!((done.code, done.err.lines().count()), (122, 1), "{command}: {done:?}");
    }
    assert_eq!(world.show("a")["permits_held"], 1);
    assert_eq!(held.let_go().code, 0);
}

#[test]
fn a_detached_lease_ends_by_itself() {
    let world = World::redis();
    let ticket = world.seinpaal(&["acquire", "a", "--ttl", "200ms"]).out;
    assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 0, "it waits for the end of the lease");
    assert_eq!(world.seinpaal(&["renew", "a", ticket.trim()]).code, 122);
}

#[test]
fn show_lists_holders_and_waiters_with_exactly_the_promised_fields() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a", "-j", "2", "-p", "2", "--label", "job=42"]);
    let args = ["run", "a", "--priority", "-7", "--label", "why=not", "true"];
    let mut waiter = Held::start(world.command(&args));
    world.until_waiting("a", 1);
    let shown = world.show("a");
    let expected =
        "name limit limit_is_set permits_held available state pause_reason holders waiters";
    assert_eq!(sorted(keys(&shown)), sorted(expected.split(' ').collect()));
    assert_eq!((&shown["limit_is_set"], &shown["pause_reason"]), (&false.into(), &().into()));
    assert_eq!((&shown["limit"], &shown["permits_held"]), (&2.into(), &2.into()));
    assert_eq!((&shown["available"], &shown["state"]), (&0.into(), &"open".into()));
    let holder = &shown["holders"][0];
    let expected = "ticket slots permits fence client host pid labels held_ms valid_for_ms";
    assert_eq!(sorted(keys(holder)), sorted(expected.split(' ').collect()));
    assert_eq!(holder["slots"], serde_json::json!([0, 1]));
    assert_eq!(holder["client"], "seinpaal run");
    assert_eq!(holder["labels"], serde_json::json!({"job": "42"}));
    assert_eq!((&holder["pid"], &holder["valid_for_ms"]), (&held.pid().into(), &().into()));
    let place = &shown["waiters"][0];
    let expected = "ticket position permits priority client host pid labels waiting_ms estimate";
    assert_eq!(sorted(keys(place)), sorted(expected.split(' ').collect()));
    assert_eq!((&place["position"], &place["priority"]), (&1.into(), &(-7).into()));
    held.let_go();
    waiter.end();
}

fn sorted(mut words: Vec<&str>) -> Vec<&str> {
    words.sort_unstable();
    words
}

#[test]
fn on_a_server_the_rest_of_the_lease_is_a_number() {
    let world = World::redis();
    let (held, _) = Held::hold(&world, &["a"]);
    assert!(world.show("a")["holders"][0]["valid_for_ms"].as_u64().unwrap() <= 30_000);
    held.let_go();
}

#[test]
fn a_name_that_nobody_uses_has_the_default_limit() {
    for world in [World::embedded(), World::redis()] {
        let shown = world.show("nobody's");
        assert_eq!((&shown["limit"], &shown["permits_held"]), (&1.into(), &0.into()));
        let done = world.seinpaal(&["show", "nobody's"]);
        assert_eq!((done.code, done.out.lines().count()), (0, 1));
        assert!(done.out.contains("no limit is stored"), "{done:?}");
        assert_eq!(world.seinpaal(&["limit", "nobody's"]).out, "1\n");
    }
}

#[test]
fn a_name_that_nobody_uses_is_said_to_be_so_with_those_that_are_nearly_the_same() {
    for world in [World::embedded(), World::redis()] {
        let (held, _) = Held::hold(&world, &["api"]);
        for args in [
            &["show", "apii"][..],
            &["show", "apii", "--json"],
            &["limit", "apii"],
            &["resume", "apii"],
            &["pause", "apii", "--reason", "incident"],
        ] {
            let done = world.seinpaal(args);
            assert_eq!((done.code, done.err.lines().count()), (0, 1), "{args:?}: {done:?}");
            assert!(done.err.contains("apii: nobody uses this name yet"), "{args:?}: {done:?}");
            assert!(done.err.contains("did you mean api?"), "{args:?}: {done:?}");
        }
        for args in [&["show", "apii"][..], &["resume", "apii"], &["-q", "show", "apii"]] {
            let done = world.seinpaal(args);
            assert_eq!(
                (done.code, done.err.as_str()),
                (0, ""),
                "it was paused: {args:?}: {done:?}"
            );
        }
        assert_eq!(world.seinpaal(&["limit", "api", "2"]).err, "");
        assert_eq!(world.seinpaal(&["-q", "limit", "other", "2"]).err, "");
        held.let_go();
    }
}

#[test]
fn a_limit_of_0_is_closed_and_a_pause_has_its_reason() {
    for world in [World::embedded(), World::redis()] {
        world.seinpaal(&["limit", "a", "0"]);
        let shown = world.seinpaal(&["show", "a"]).out;
        assert!(shown.contains("0 of 0 held") && shown.contains("closed"), "{shown}");
        let listed = world.seinpaal(&["list"]).out;
        assert!(listed.contains("0/0") && listed.contains("closed"), "{listed}");
        let json = world.show("a");
        assert_eq!((&json["state"], &json["limit_is_set"]), (&"closed".into(), &true.into()));
        world.seinpaal(&["pause", "a", "--reason", "disk swap"]);
        let json = world.show("a");
        assert_eq!(
            (&json["state"], &json["pause_reason"]),
            (&"paused".into(), &"disk swap".into())
        );
        world.seinpaal(&["queue", "pause", "q", "--reason", "no mail"]);
        assert_eq!(world.queue("q")["pause_reason"], "no mail");
    }
}

#[test]
fn a_writer_holds_all_and_no_number_that_nobody_gave() {
    let world = World::redis();
    let (held, _) = Held::hold(&world, &["pages", "--exclusive"]);
    for args in [&["show", "pages", "--wide"][..], &["limit", "pages"], &["list"]] {
        let done = world.seinpaal(args);
        let has_number =
            done.out.split_whitespace().any(|word| ["1000000", "0-999999"].contains(&word));
        assert!(done.code == 0 && !has_number, "{args:?}: {done:?}");
    }
    held.let_go();
}

#[test]
fn list_has_a_row_a_name_and_an_object_a_line() {
    for world in [World::embedded(), World::redis()] {
        assert_eq!(world.seinpaal(&["list"]).out, "");
        let names = ["b/{1}", "b \"2\"", "c/ж"];
        let held = names.map(|name| Held::hold(&world, &[name]).0);
        let mut waiter = Held::start(world.command(&["run", "b/{1}", "true"]));
        world.until_waiting("b/{1}", 1);
        let table = world.seinpaal(&["list"]).out;
        assert!(table.starts_with("NAME"), "{table}");
        assert!(!table.contains('\x1b'), "no colour without a terminal");
        assert_eq!(table.lines().count(), 4, "{table}");
        let lines = world.seinpaal(&["list", "b", "--json"]).out;
        let rows = lines.lines().map(|line| serde_json::from_str(line).unwrap());
        let rows = rows.collect::<Vec<serde_json::Value>>();
        assert_eq!(rows.len(), 2);
        let row = rows.iter().find(|row| row["name"] == "b/{1}").unwrap();
        let expected = "name limit limit_is_set permits_held available state pause_reason waiting oldest_wait_ms";
        assert_eq!(sorted(keys(row)), sorted(expected.split(' ').collect()));
        assert_eq!((&row["waiting"], row["oldest_wait_ms"].is_u64()), (&1.into(), true));
        assert!(rows.iter().any(|row| row["oldest_wait_ms"].is_null()));
        for holder in held {
            holder.let_go();
        }
        waiter.end();
    }
}

#[test]
fn a_limit_is_read_set_and_unset() {
    for world in [World::embedded(), World::redis()] {
        assert_eq!(world.seinpaal(&["limit", "a", "2"]).code, 0);
        assert_eq!(world.seinpaal(&["limit", "a"]).out, "2\n");
        assert_eq!(world.seinpaal(&["limit", "a", "--json"]).out, "{\"name\":\"a\",\"limit\":2}\n");
        assert_eq!(world.seinpaal(&["run", "a", "-p", "2", "true"]).code, 0);
        assert_eq!(world.seinpaal(&["limit", "a", "0"]).code, 0);
        assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75, "0 admits nobody");
        assert_eq!(world.seinpaal(&["limit", "a", "--unset"]).code, 0);
    }
}

#[test]
fn lowering_the_limit_throws_nobody_out() {
    let world = World::embedded();
    let (one, _) = Held::hold(&world, &["a", "-j", "2"]);
    let (two, _) = Held::hold(&world, &["a"]);
    world.seinpaal(&["limit", "a", "1"]);
    assert_eq!(world.show("a")["permits_held"], 2);
    assert_eq!(one.let_go().code, 0);
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75, "it does not fit yet");
    assert_eq!(two.let_go().code, 0);
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 0);
}

#[test]
fn a_paused_name_admits_nobody_until_resumed() {
    for world in [World::embedded(), World::redis()] {
        assert_eq!(world.seinpaal(&["pause", "a", "--reason", "moving house"]).code, 0);
        assert_eq!(world.show("a")["state"], "paused");
        assert!(world.seinpaal(&["show", "a"]).out.contains("paused (moving house)"));
        let done = world.seinpaal(&["run", "a", "-n", "true"]);
        assert_eq!(done.code, 75);
        assert!(done.err.contains("paused"), "{done:?}");
        let mut waiter = Held::start(world.command(&["run", "a", "echo", "in"]));
        world.until_waiting("a", 1);
        assert_eq!(world.seinpaal(&["resume", "a"]).code, 0);
        assert_eq!(waiter.end().out, "in\n");
    }
}

#[test]
fn help_and_manual_pages_carry_the_exit_statuses() {
    let world = World::embedded();
    for args in [&["--help"][..], &["run", "--help"], &["help", "run"], &["man"], &["man", "run"]] {
        let done = world.seinpaal(args);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
        for word in ["122", "124", "126/127", "SEINPAAL_STORE"] {
            assert!(done.out.contains(word), "{args:?} lacks {word}");
        }
    }
    assert!(world.seinpaal(&["man", "run"]).out.contains(".TH"));
    assert!(world.seinpaal(&["--version"]).out.starts_with("seinpaal "));
}

/// Returns the commands that a help lists.
fn commands_in(help: &str) -> Vec<String> {
    let (_, listed) = help.split_once("\nCommands:\n").unwrap_or_default();
    let lines = listed.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_page_of_its_own_and_is_completed() {
    let world = World::embedded();
    let folder = world.path("man");
    std::fs::create_dir(&folder).unwrap();
    let done = world.seinpaal(&["man", "--to", folder.to_str().unwrap()]);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
    let mut commands: Vec<String> =
        commands_in(&world.seinpaal(&["-h"]).out).iter().map(|it| format!("-{it}")).collect();
    let of_queues = commands_in(&world.seinpaal(&["queue", "-h"]).out);
    assert!(commands.contains(&"-evict".into()) && commands.len() > 15 && of_queues.len() > 8);
    let completions = world.seinpaal(&["completions", "bash"]).out;
    for command in commands.iter().map(|it| &it[1..]).chain(of_queues.iter().map(String::as_str)) {
        assert!(completions.contains(&format!("__{command})")), "{command} is not completed");
    }
    commands.extend(of_queues.iter().map(|it| format!("-queue-{it}")));
    commands.push(String::new());
    for command in &commands {
        let page = std::fs::read_to_string(folder.join(format!("seinpaal{command}.1"))).unwrap();
        let words: Vec<&str> = command.split('-').filter(|word| !word.is_empty()).collect();
        assert_eq!(page, world.seinpaal(&[&["man"], &words[..]].concat()).out, "{command}");
        assert!(
            page.contains(&format!("seinpaal{}", command.replace('-', "\\-"))),
            "{command}: {page}"
        );
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), commands.len(), "and no others");
    let nowhere = world.seinpaal(&["man", "--to", "/no/such/directory"]);
    assert!(
        nowhere.code == 64 && nowhere.err.contains("/no/such/directory/seinpaal.1"),
        "{nowhere:?}"
    );
}

#[test]
fn every_shell_has_its_completions() {
    let world = World::embedded();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = world.seinpaal(&["completions", shell]);
        assert_eq!(done.code, 0);
        assert!(done.out.contains("seinpaal") && done.out.contains("max-waiting"), "{shell}");
        assert!(!done.out.contains("--guard"), "{shell}");
    }
}

#[test]
fn the_help_names_every_option_that_a_stores_url_may_have() {
    let world = World::embedded();
    let help = world.seinpaal(&["--help"]).out;
    for store in ["redis://h", "redis+sentinel://h/m", "redis+cluster://h", "redis+quorum://a,b,c"]
    {
        let done = world.seinpaal(&["list", "-s", &format!("{store}?nonsense=1")]);
        let (_, known) = done.err.split_once("known are ").expect("those that are known");
        for option in known.split([',', ' ', '\n']).filter(|word| !word.is_empty()) {
            assert!(help.contains(&format!("{option}=")), "{store}: {option} is not in the help");
        }
    }
}
