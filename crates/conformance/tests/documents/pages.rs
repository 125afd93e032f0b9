//! The pages of README and docs/ fit together: links lead somewhere, the site has every page, and
//! the source files that pages name are there.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::tree::{files, in_backquotes, root, text};

/// Pages that stand beside the code that they describe.
const BESIDE: [&str; 4] =
    ["bench/permits/README.md", "bench/queues/README.md", "packages/README.md", "python/README.md"];

/// Every page, by its path from the root.
fn pages() -> BTreeMap<String, String> {
    let own = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].into_iter().chain(BESIDE);
    let own = own.map(|name| root().join(name));
    let from_root = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let paths = files(&root().join("docs"), "md").into_iter().chain(own);
    paths.map(|path| from_root(&path)).map(|path| (path.clone(), text(&path))).collect()
}

/// The lines of a page that are not in a block of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

fn links(text: &str) -> Vec<String> {
    let of_line = |line: &str| -> Vec<String> {
        let rests = line.split("](").skip(1);
        rests.filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
    };
    prose(text).flat_map(of_line).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str().unwrap().split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the reason for which this link of that page leads nowhere, if it does.
fn broken(pages: &BTreeMap<String, String>, page: &str, link: &str) -> Option<String> {
    let (target, part) = link.split_once('#').unwrap_or((link, ""));
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let directory = Path::new(page).parent().unwrap();
    let path = if target.is_empty() { page.to_owned() } else { plain(&directory.join(target)) };
    let is_there = root().join(&path).exists();
    let has_part =
        part.is_empty() || pages.get(&path).is_some_and(|text| anchors(text).contains(part));
    (!is_there || !has_part).then(|| format!("{page} links to {link}"))
}

#[test]
fn links_between_pages_lead_to_a_page_and_to_a_heading() {
    let pages = pages();
    let of_page = |(page, text): (&String, &String)| -> Vec<String> {
        links(text).iter().filter_map(|link| broken(&pages, page, link)).collect()
    };
    let broken: Vec<String> = pages.iter().flat_map(of_page).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_link_to_a_page_or_a_heading_that_is_not_there_is_found() {
    let pages = BTreeMap::from([("README.md".to_owned(), "# One heading\n".to_owned())]);
    assert_eq!(broken(&pages, "README.md", "#one-heading"), None);
    assert_eq!(broken(&pages, "README.md", "docs/"), None);
    assert!(broken(&pages, "README.md", "#another").is_some());
    assert!(broken(&pages, "README.md", "docs/nothing.md").is_some());
}

#[test]
fn the_site_has_every_page_of_docs() {
    let pages = pages();
    let listed: BTreeSet<String> =
        links(&pages["docs/SUMMARY.md"]).iter().map(|link| format!("docs/{link}")).collect();
    let is_page = |page: &&String| page.starts_with("docs/") && *page != "docs/SUMMARY.md";
    let missing: Vec<_> =
        pages.keys().filter(is_page).filter(|page| !listed.contains(*page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

/// The texts in backquotes that begin like the path of a source file.
fn named_files(text: &str) -> Vec<&str> {
    in_backquotes(text)
        .filter(|word| word.starts_with("crates/") && word.ends_with(".rs"))
        .collect()
}

#[test]
fn source_files_that_pages_name_are_there() {
    let pages = pages();
    let named = pages.iter().flat_map(|(page, text)| {
        named_files(text).into_iter().map(move |file| (page.as_str(), file))
    });
    let named: Vec<_> = named.filter(|(page, _)| *page != "CHANGELOG.md").collect();
    assert!(named.len() > 20, "only {} files are named", named.len());
    let missing: Vec<_> = named.iter().filter(|(_, file)| !root().join(file).exists()).collect();
    assert!(missing.is_empty(), "named but not there: {missing:?}");
}
