//! Tests that this program reads every command line that README, the guide and `--help` show, and
//! that both the guide and `--help` show each manner of `run` with its situation.

use std::{fs, path::Path};

use clap::{Command, CommandFactory, Parser};

use super::Arguments;

/// Returns README and the pages of the guide, with their paths.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs/guide")).expect("the guide");
    let mut paths: Vec<_> = guide.map(|entry| entry.expect("a page of it").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.push(root.join("README.md"));
    let text = |path: &Path| fs::read_to_string(path).expect("a page");
    paths.iter().map(|path| (path.display().to_string(), text(path))).collect()
}

/// Returns the lines that a reader types.
fn typed(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// Takes a line of shell apart into simple commands, and these into words. Quoted text is one word.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut word, mut quote) = (vec![Vec::new()], String::new(), None);
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') if word.is_empty() => break,
            (None, ' ' | '|' | ';' | '&' | '(' | ')' | '<' | '>') => {
                let last = commands.last_mut().expect("there is one");
                last.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                if c != ' ' {
                    commands.push(Vec::new());
                }
            }
            (_, c) => word.push(c),
        }
    }
    commands
}

/// Returns the words from the name of this program on, which may stand behind the name of another
/// program. A short value replaces each variable.
fn ours(words: &[String]) -> Option<Vec<&str>> {
    let is_ours = |word: &String| word == "seinpaal" || word.ends_with("/seinpaal");
    let at = words.iter().position(is_ours)?;
    let value = |word: &String| word.starts_with('$').then_some("1");
    Some(words[at..].iter().map(|word| value(word).unwrap_or(word)).collect())
}

/// Counts the commands of this program in these lines. The program must be able to read each of
/// them.
fn read_all<'a>(place: &str, lines: impl Iterator<Item = &'a str>) -> usize {
    let (mut read, mut wrong) = (0, Vec::new());
    for words in lines.flat_map(commands) {
        let Some(words) = ours(&words) else { continue };
        read += 1;
        // clap returns help and the version as errors, too.
        if let Err(error) = Arguments::try_parse_from(&words)
            && error.use_stderr()
        {
            wrong.push(format!("{place}: {}: {error}", words.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    read
}

#[test]
fn command_lines_of_readme_and_guide_are_read() {
    let read: usize = pages().iter().map(|(path, page)| read_all(path, typed(page))).sum();
    assert!(read > 60, "only {read} were found");
}

/// Returns the text after the options in the long help of a command such as `run` or `queue push`.
/// The manual page has this text, too.
fn help_of(command: &str) -> String {
    let arguments = Arguments::command();
    let below = |above: Command, word| above.find_subcommand(word).expect("one of ours").clone();
    let command = command.split(' ').fold(arguments, below);
    command.get_after_long_help().expect("examples").to_string()
}

/// Returns the lines of the examples in a help that are commands. Lines that are indented further
/// describe them.
fn shown(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let examples = lines.take_while(|line| line.starts_with("  "));
    examples.map(|line| &line[2..]).filter(|line| !line.starts_with(' '))
}

#[test]
fn command_lines_of_help_are_read() {
    let commands = [("run", 16), ("acquire", 2), ("limit", 3)];
    let of_queues = [("push", 4), ("work", 2), ("items", 3), ("dead", 4), ("cancel", 3)];
    let of_queues = of_queues.map(|(command, least)| (format!("queue {command}"), least));
    let commands = commands.map(|(command, least)| (command.to_owned(), least));
    for (command, least) in commands.into_iter().chain(of_queues) {
        let read = read_all(&command, shown(&help_of(&command)));
        assert!(read >= least, "{command}: only {read} were found");
    }
}

/// Each manner besides plain waiting, and the command whose help shows it.
const MANNERS: [(&str, &str); 13] = [
    ("run", "'seinpaal run"),
    ("run", "--no-reenter"),
    ("run", "--on-unreachable run"),
    ("run", "--min-hold"),
    ("run", "--on-conflict skip"),
    ("run", "--on-conflict replace-waiting"),
    ("run", "--on-conflict cancel-running"),
    ("run", "--once-per"),
    ("run", "--also"),
    ("run", "--within"),
    ("run", "--slot board-b"),
    ("acquire", "--while-pid $$"),
    ("limit", "--slots GPU-0,GPU-1,board-b"),
];

#[test]
fn each_manner_is_shown_with_its_situation_in_help_and_in_the_guide() {
    let guide =
        pages().into_iter().find(|(path, _)| path.ends_with("guide/run.md")).expect("a page").1;
    for (command, manner) in MANNERS {
        assert!(help_of(command).contains(manner), "{command} --help has no example with {manner}");
        // The guide describes a `run` inside a `run` in words.
        let in_guide = guide.contains(manner) || manner.starts_with('\'');
        assert!(in_guide, "docs/guide/run.md does not say when to use {manner}");
    }
}

#[test]
fn lines_of_shell_are_taken_apart() {
    let line = "t=$(seinpaal acquire 'a b' --ttl 1m) && seq 3 | xargs seinpaal run x true # c";
    let commands = commands(line);
    let ours: Vec<_> = commands.iter().filter_map(|words| ours(words)).collect();
    assert_eq!(ours[0], ["seinpaal", "acquire", "a b", "--ttl", "1m"]);
    assert_eq!(ours[1], ["seinpaal", "run", "x", "true"]);
    assert!(Arguments::try_parse_from(["seinpaal", "run", "--limits", "2", "x", "true"]).is_err());
}
