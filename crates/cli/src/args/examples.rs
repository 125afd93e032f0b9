//! Every command line that README and the guide show is one that this program reads.

use std::{fs, path::Path};

use clap::Parser;

use super::Arguments;

/// README, and the pages of the guide.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs/guide")).expect("the guide");
    let mut paths: Vec<_> = guide.map(|entry| entry.expect("a page of it").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.push(root.join("README.md"));
    let text = |path: &Path| fs::read_to_string(path).expect("a page");
    paths.iter().map(|path| (path.display().to_string(), text(path))).collect()
}

/// The lines that are typed.
fn typed(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// The simple commands of a line of shell, as words. Quoted text is one word.
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

/// From the name of this program on, which may stand behind another's. A variable stands for something short.
fn ours(words: &[String]) -> Option<Vec<&str>> {
    let is_ours = |word: &String| word == "seinpaal" || word.ends_with("/seinpaal");
    let at = words.iter().position(is_ours)?;
    let value = |word: &String| word.starts_with('$').then_some("1");
    Some(words[at..].iter().map(|word| value(word).unwrap_or(word)).collect())
}

#[test]
fn command_lines_of_readme_and_guide_are_read() {
    let (mut read, mut wrong) = (0, Vec::new());
    for (path, page) in pages() {
        for words in typed(&page).flat_map(commands) {
            let Some(words) = ours(&words) else { continue };
            read += 1;
            // Help and the version are told by an error, too.
            if let Err(error) = Arguments::try_parse_from(&words)
                && error.use_stderr()
            {
                wrong.push(format!("{path}: {}: {error}", words.join(" ")));
            }
        }
    }
    assert!(read > 60, "only {read} were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
