//! Tests that the parser of `run` alone reads a `run` as the parser of all commands does.

use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// Returns the results of both parsers for a line, or their errors.
fn read(line: &str) -> [Result<String, String>; 2] {
    let told = |read: Result<Arguments, clap::Error>| {
        read.map(|it| format!("{it:?}")).map_err(|error| error.render().to_string())
    };
    [Arguments::read_from(&words(line)), Arguments::try_parse_from(words(line))].map(told)
}

#[test]
fn the_parser_that_knows_run_alone_reads_what_the_other_reads() {
    for line in [
        "seinpaal run n true",
        "seinpaal run -s file:///d n -j 3 -p 2 -- sh -c x -v",
        "seinpaal run n --also m:2 --json -vv --store-file f -w 2s -E 0 -- run --help",
        "seinpaal run --exclusive n --priority -3 --label a=b --on-lost kill -k 1s true",
        "seinpaal -q run n true",
        "seinpaal list",
    ] {
        let [ours, all] = read(line);
        assert!(ours.is_ok(), "{line}: {ours:?}");
        assert_eq!(ours, all, "{line}");
    }
}

#[test]
fn what_is_wrong_is_told_by_the_parser_that_knows_all() {
    for line in [
        "seinpaal run",
        "seinpaal run n",
        "seinpaal run --help",
        "seinpaal run -h",
        "seinpaal run --version",
        "seinpaal run n --shared --exclusive true",
        "seinpaal run n --wiat 3 true",
        "seinpaal runs n true",
    ] {
        let [ours, all] = read(line);
        assert!(ours.is_err(), "{line}: {ours:?}");
        assert_eq!(ours, all, "{line}");
    }
}
