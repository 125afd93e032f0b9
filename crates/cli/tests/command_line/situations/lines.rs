//! Reads the lines of the pages.

pub(super) const RUN: &str = include_str!("../../../../../docs/guide/run.md");
pub(super) const SCHEDULES: &str = include_str!("../../../../../docs/guide/schedules.md");

/// Returns the situations of a page. Each begins with its title in bold letters.
fn situations_of(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let (_, rest) = page.split_once("\n## Situations\n").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    section.split("\n**").skip(1).map(|situation| situation.split_once("**").unwrap())
}

pub(super) fn titles_of(page: &str) -> Vec<&str> {
    situations_of(page).map(|(title, _)| title).collect()
}

/// Returns the typed lines of one situation: those of its blocks after a `$`.
pub(super) fn commands_of(page: &str, title: &str) -> Vec<String> {
    let (_, text) = situations_of(page).find(|(found, _)| *found == title).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

/// Returns the commands of the lines of a crontab, with scripts of this directory.
pub(super) fn crontab_of(page: &str) -> Vec<String> {
    let blocks = page.split("```cron\n").skip(1);
    let lines = blocks.flat_map(|block| block.split_once("```").unwrap().0.lines());
    let command = |line: &str| line[line.find("seinpaal").unwrap()..].to_owned();
    lines.map(|line| command(line).replace("/usr/local/bin/", "./")).collect()
}
