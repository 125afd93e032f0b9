//! Runs of lines that stand at two places.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::Path,
};

/// The smallest number of lines in a row that make a run.
const RUN: usize = 6;
/// Lines that stand at more places than this are too common to list.
const MOST_PLACES: usize = 8;

/// A run of lines that stands at two places.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Duplicate {
    /// The number of lines in the run.
    pub lines: usize,
    /// The first place, as `file:line`.
    pub here: String,
    /// The second place.
    pub there: String,
}

/// The lines of one file that are compared, each with its number.
struct SourceLines {
    path: String,
    lines: Vec<(usize, String)>,
}

/// A place in a file: the number of the file, and the number of the line among the lines that are
/// compared.
type LinePlace = (usize, usize);

/// Every run of at least six lines that stands twice below these directories, the longest first.
/// Comments, imports, blank lines and lines without a letter are not compared.
///
/// # Panics
/// A file cannot be read.
#[must_use]
pub fn duplicates(root: &Path, directories: &[&str]) -> Vec<Duplicate> {
    let mut sources = Vec::new();
    for directory in directories {
        read(root, &root.join(directory), &mut sources);
    }
    let pairs = pairs(&sources);
    let mut found: Vec<_> = pairs
        .iter()
        .filter(|(one, other)| !before(*one, *other).is_some_and(|pair| pairs.contains(&pair)))
        .map(|(one, other)| duplicate(&sources, &pairs, *one, *other))
        .collect();
    found.sort_by(|one, other| (other.lines, &one.here).cmp(&(one.lines, &other.here)));
    found
}

fn read(root: &Path, path: &Path, sources: &mut Vec<SourceLines>) {
    if path.is_dir() {
        let entries = fs::read_dir(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| read(root, path, sources));
    } else if path.extension().is_some_and(|end| end == "rs" || end == "lua") {
        let text = fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
        sources.push(SourceLines { path, lines: lines(&text) });
    }
}

/// The lines that are compared. An import goes on until its semicolon.
fn lines(text: &str) -> Vec<(usize, String)> {
    let mut is_import = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        is_import |= ["use ", "pub use ", "pub(crate) use ", "mod ", "pub mod "]
            .iter()
            .any(|word| line.starts_with(word));
        let is_comment = line.starts_with("//") || line.starts_with("--");
        if !is_import && !is_comment && line.contains(char::is_alphabetic) {
            found.push((at + 1, line.to_owned()));
        }
        is_import &= !line.ends_with(';');
    }
    found
}

/// All pairs of places at which the same run begins.
fn pairs(sources: &[SourceLines]) -> BTreeSet<(LinePlace, LinePlace)> {
    let mut places: HashMap<Vec<&str>, Vec<LinePlace>> = HashMap::new();
    for (file, source) in sources.iter().enumerate() {
        for (at, run) in source.lines.windows(RUN).enumerate() {
            let run = run.iter().map(|(_, line)| line.as_str()).collect();
            places.entry(run).or_default().push((file, at));
        }
    }
    let mut pairs = BTreeSet::new();
    for places in places.values().filter(|places| places.len() <= MOST_PLACES) {
        for (nth, one) in places.iter().enumerate() {
            let others = places[nth + 1..].iter();
            // A run does not overlap itself.
            let apart = others.filter(|other| other.0 != one.0 || other.1 - one.1 >= RUN);
            pairs.extend(apart.map(|other| (*one, *other)));
        }
    }
    pairs
}

fn before(one: LinePlace, other: LinePlace) -> Option<(LinePlace, LinePlace)> {
    Some(((one.0, one.1.checked_sub(1)?), (other.0, other.1.checked_sub(1)?)))
}

fn duplicate(
    sources: &[SourceLines],
    pairs: &BTreeSet<(LinePlace, LinePlace)>,
    one: LinePlace,
    other: LinePlace,
) -> Duplicate {
    let goes_on = |by: &usize| pairs.contains(&((one.0, one.1 + by), (other.0, other.1 + by)));
    let more = (1..).take_while(goes_on).count();
    let shown = |(file, at): LinePlace| {
        let SourceLines { path, lines } = &sources[file];
        format!("{path}:{}", lines[at].0)
    };
    Duplicate { lines: RUN + more, here: shown(one), there: shown(other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "let a = 1;\nlet b = 2;\nlet c = 3;\nlet d = 4;\nlet e = 5;\nlet f = 6;\n";

    fn found(one: &str, other: &str) -> Vec<usize> {
        let source = |text| SourceLines { path: String::new(), lines: lines(text) };
        let sources = [source(one), source(other)];
        let pairs = pairs(&sources);
        pairs.iter().map(|(one, other)| duplicate(&sources, &pairs, *one, *other).lines).collect()
    }

    #[test]
    fn a_run_of_six_lines_is_found_through_comments_and_indentation() {
        let other = BODY.replace("let c", "    // three\n    let c");
        assert_eq!(found(BODY, &other), [6]);
    }

    #[test]
    fn a_run_of_five_lines_and_imports_are_not_found() {
        assert!(found(BODY, &BODY.replace("let f", "let g")).is_empty());
        let imports = "use one::{\n    a,\n    b,\n    c,\n    d,\n    e,\n    f,\n};\n";
        assert!(found(imports, imports).is_empty());
    }
}
