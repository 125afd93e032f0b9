//! `--json`: each line of data is an object, whatever the command.

use super::support::World;

/// The lines that print data, in this order. `$TICKET` and `$OTHER` hold a permit each of `a` and
/// `b`. Queue `q` has items that are ready, among them `$ITEM`, and one that is delayed; `d` has
/// dead letters, among them `$DEAD`.
const PRINTS: [&str; 20] = [
    "acquire c",
    "renew a $TICKET",
    "list",
    "show a",
    "show a --why $TICKET",
    "limit a",
    "top --once",
    "doctor",
    "queue push q x",
    "queue list",
    "queue show q",
    "queue items q",
    "queue limit q",
    "queue dead d",
    "queue dead d --matching x --replay all",
    "queue dead d --replay all",
    "queue dead d --matching x --drop all",
    "queue dead d --drop all",
    "queue cancel q all --state delayed",
    "queue purge q",
];

/// Changes that have nothing to print. They come first.
const SILENT: [&str; 11] = [
    "limit a 3",
    "pause a",
    "resume a",
    "evict b $OTHER",
    "queue limit q 3",
    "queue pause q",
    "queue resume q",
    "queue cancel q $ITEM",
    "queue dead d --drop $DEAD",
    "acquire b >file",
    "release b $(cut -c 2- file | tr -d '\"{}' | tr ',' '\\n' | sed -n 's/^ticket://p')",
];

/// Commands whose output is not data, is CMD's, or is tried elsewhere: that of `bench` in `bench`.
const NOT_TRIED: [&str; 8] =
    ["run", "serve", "bench", "completions", "man", "help", "queue work", "queue help"];

/// The names of the permits and items that the lines above are about.
fn variables(world: &World) -> String {
    let said = |line: &str| {
        let done = world.shell(&format!("$SEINPAAL {line}"));
        assert_eq!(done.code, 0, "{line}: {done:?}");
        done.out.trim_end().to_owned()
    };
    let dead = [said("queue push d x --deliveries 1"), said("queue push d x --deliveries 1")];
    said("queue work d --until-empty false");
    let item = said("queue push q x");
    said("queue push q x");
    said("queue push q x --delay 1h");
    let (ticket, other) = (said("acquire a"), said("acquire b"));
    format!("TICKET={ticket}; OTHER={other}; ITEM={item}; DEAD={}", dead[0])
}

#[test]
fn every_command_prints_objects_or_nothing() {
    let world = World::embedded();
    let variables = variables(&world);
    for (line, prints) in
        SILENT.iter().map(|line| (line, false)).chain(PRINTS.iter().map(|line| (line, true)))
    {
        let done = world.shell(&format!("{variables}; $SEINPAAL --json {line}"));
        assert!((0..=1).contains(&done.code), "{line}: {done:?}");
        assert_eq!(!done.out.is_empty(), prints, "{line}: {done:?}");
        for said in done.out.lines() {
            let value: serde_json::Value = serde_json::from_str(said).unwrap();
            assert!(value.is_object(), "{line}: {said}");
        }
    }
}

/// The commands that `--help` lists.
fn listed(world: &World, of: &str) -> Vec<String> {
    let help = world.shell(&format!("$SEINPAAL {of} --help")).out;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let words = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let is_one = line.starts_with("  ") && !line.starts_with("   ");
        line.split_whitespace().next().filter(|_| is_one)
    });
    words.map(|word| format!("{of} {word}").trim().to_owned()).collect()
}

#[test]
fn no_command_is_forgotten_here() {
    let world = World::embedded();
    let commands = [listed(&world, ""), listed(&world, "queue")].concat();
    assert!(commands.len() > 25, "{commands:?}");
    let tried = SILENT.iter().chain(&PRINTS);
    let tried: Vec<_> = tried.copied().chain(NOT_TRIED).collect();
    for command in commands.iter().filter(|command| *command != "queue") {
        let is_tried = |line: &&str| line.starts_with(command.as_str());
        assert!(tried.iter().any(is_tried), "{command} is not tried");
    }
}

#[test]
fn how_many_items_a_command_has_touched_is_told_with_the_name() {
    let world = World::embedded();
    world.push("q", "x");
    let done = world.seinpaal(&["queue", "purge", "q", "--json"]);
    assert_eq!(done.out, "{\"name\":\"q\",\"items\":1}\n");
    assert_eq!(world.seinpaal(&["queue", "purge", "q"]).out, "0\n");
}
