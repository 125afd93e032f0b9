//! Reads the most common form of a `run` without clap. clap takes longer to set up all flags of
//! `run` than the store takes for the permit. clap reads every other line, and every line with a
//! mistake.

use std::ffi::OsString;

use seinpaal::MAX_LIMIT;

use super::{
    Global,
    run::{EntryArgs, RunArgs},
    values,
};
use crate::exit::NOT_ACQUIRED;

/// The words before `--`.
#[derive(Default)]
struct PlainWords<'a> {
    name: Option<&'a str>,
    store: Option<&'a str>,
    limit: Option<&'a str>,
    wait: Option<&'a str>,
    nonblock: bool,
    quiet: bool,
}

/// Reads `run NAME -- CMD`, with any of `-s`, `-j`, `-w`, `-n` and `-q`, each at most once. `None`:
/// the line has another form.
pub(super) fn read(words: &[OsString]) -> Option<(Global, RunArgs)> {
    let dashes = words.iter().position(|word| word == "--")?;
    let command = words[dashes + 1..].to_vec();
    let (ours, [_, run]) = (words.get(2..dashes)?, words.first_chunk()?);
    if run != "run" || command.is_empty() {
        return None;
    }
    let found = PlainWords::among(ours.iter().map(|word| word.to_str()))?;
    let entry = found.entry()?;
    let global = Global {
        store: found.store.map(str::to_owned),
        store_file: None,
        quiet: found.quiet,
        verbose: 0,
        json: false,
    };
    Some((global, RunArgs::plain(entry, command)))
}

impl<'a> PlainWords<'a> {
    fn among(mut words: impl Iterator<Item = Option<&'a str>>) -> Option<Self> {
        let mut found = Self::default();
        while let Some(word) = words.next() {
            let (flag, value) = parted(word?);
            let place = match flag {
                "-s" | "--store" => &mut found.store,
                "-j" | "--limit" => &mut found.limit,
                "-w" | "--wait" => &mut found.wait,
                "-n" | "--nonblock" if value.is_none() => {
                    turn_on(&mut found.nonblock)?;
                    continue;
                }
                "-q" | "--quiet" if value.is_none() => {
                    turn_on(&mut found.quiet)?;
                    continue;
                }
                name if value.is_none() => {
                    put(&mut found.name, name)?;
                    continue;
                }
                _ => return None,
            };
            put(place, value.map_or_else(|| words.next().flatten(), Some)?)?;
        }
        (!(found.nonblock && found.wait.is_some())).then_some(found)
    }

    fn entry(&self) -> Option<EntryArgs> {
        Some(EntryArgs {
            name: values::name(self.name?).ok()?,
            limit: self.limit.map_or(Some(None), |limit| count(limit).map(Some))?,
            adopt_limit: false,
            set_limit: false,
            permits: 1,
            slots: Vec::new(),
            shared: false,
            exclusive: false,
            nonblock: self.nonblock,
            wait: self.wait.map(values::duration).transpose().ok()?,
            conflict_exit_code: NOT_ACQUIRED,
            max_waiting: None,
            priority: 0,
            ttl: None,
            labels: Vec::new(),
        })
    }
}

/// Splits a word into a flag and its value, if both are in it: `-j4`, `--limit=4`.
fn parted(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
    }
    match word.split_at_checked(2) {
        Some((flag @ ("-j" | "-w"), value)) if !value.is_empty() => (flag, Some(value)),
        _ => (word, None),
    }
}

/// Puts a word into an empty place. `None`: the place is taken, or the word may be a flag.
fn put<'a>(place: &mut Option<&'a str>, word: &'a str) -> Option<()> {
    (!word.is_empty() && !word.starts_with('-') && place.replace(word).is_none()).then_some(())
}

fn turn_on(flag: &mut bool) -> Option<()> {
    (!std::mem::replace(flag, true)).then_some(())
}

fn count(text: &str) -> Option<u32> {
    // `parse` alone would accept a sign, too. clap decides whether `+4` is a number.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|count| digits && (1..=MAX_LIMIT).contains(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, CliCommand};
    use clap::Parser;

    const PLAIN: &[&str] = &[
        "run a -- true",
        "run a -- true -x -- y",
        "run -s file:///d a -- sh -c x",
        "run a --store redis://h -j 4 -- true",
        "run -q -n a --limit 100000 -- -true",
        "run a -w 2s --quiet -- true",
        "run -j4 a -- true",
        "run a -w1.5m --limit=1 -- true",
        "run --store=memory:x a --wait=2s -- true",
        "run a --wait 1.5m -j 1 --nonblock=x -- true",
    ];
    const OTHERS: &[&str] = &[
        "run a true",
        "run a -- ",
        "run -- true",
        "run a b -- true",
        "run a -j 0 -- true",
        "run a -j +4 -- true",
        "run a -j -- true",
        "run a -j 4 -j 4 -- true",
        "run a -n -n -- true",
        "run a -n -w 1s -- true",
        "run a -w soon -- true",
        "run a -s -q -- true",
        "run a --ttl 9s -- true",
        "run a -jx -- true",
        "run a -j=4 -- true",
        "run a --limit= -- true",
        "run a -j4 -j4 -- true",
        "run a --labels=1 -- true",
        "run a=b --quiet=1 -- true",
        "run a -v -- true",
        "run --help -- true",
        "acquire a -- true",
        "run",
        "--",
    ];

    fn words(line: &str) -> Vec<OsString> {
        ["seinpaal"]
            .into_iter()
            .chain(line.split(' ').filter(|word| !word.is_empty()))
            .map(OsString::from)
            .collect()
    }

    #[test]
    fn a_plain_line_is_read_as_clap_reads_it() {
        let mut read_here = 0;
        for line in PLAIN.iter().chain(OTHERS) {
            let words = words(line);
            let Some((global, run)) = read(&words) else { continue };
            let by_clap = Arguments::try_parse_from(&words).unwrap();
            let CliCommand::Run(its) = by_clap.command else { panic!("{line}") };
            assert_eq!(format!("{global:?} {run:?}"), format!("{:?} {its:?}", by_clap.global));
            read_here += 1;
        }
        assert_eq!(
            read_here, 9,
            "the last of the plain lines has a flag with a value that it does not take"
        );
    }

    #[test]
    fn whatever_is_wrong_or_not_plain_is_left_to_clap() {
        OTHERS.iter().for_each(|line| assert!(read(&words(line)).is_none(), "{line}"));
        assert!(read(&[]).is_none());
    }
}
