//! Prints figures of the source: which file uses which, how many lines each crate has, which lines
//! stand twice, which files and functions are too long, how long functions are, which names several
//! types have, the share of comments in the lines, and which sentences name no subject.
//!
//! ```text
//! cargo run -p house -- imports
//! cargo run -p house -- lines ../another-checkout
//! cargo run -p house -- duplicates
//! cargo run -p house -- long
//! cargo run -p house -- functions
//! cargo run -p house -- names
//! cargo run -p house -- comments
//! cargo run -p house -- subjects
//! ```
//!
//! One word changes the source instead: `cargo run -p house -- wrap` wraps the comments that are
//! wider than 100 columns, which `cargo fmt` leaves as they are. It takes a directory.

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use house::{
    duplicates::{Duplicate, duplicates},
    graph::{between_modules, circles, shown},
    layers::{self, Arrow, PROOF, arrows, upward},
    lines::{Comments, Lines, comments, count},
    long::{FILE, FUNCTION, LONGISH, lengths, long},
    names::{shared, twins},
    source::{Arrows, Crate, Module},
    subjects::{Unnamed, unnamed},
    wrap::wrap,
};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let root = words.get(1).map_or_else(this_tree, PathBuf::from);
    match words.first().map(String::as_str) {
        Some("imports") => imports(&root),
        Some("lines") => lines(&root),
        Some("duplicates") => print_duplicates(&root),
        Some("long") => print_long(&root),
        Some("functions") => print_functions(&root),
        Some("names") => print_names(&root),
        Some("comments") => print_comments(&root),
        Some("subjects") => print_subjects(&root),
        Some("wrap") => println!("files changed: {}", wrap(&root)),
        _ => {
            eprintln!(
                "house: say what to print (imports, lines, duplicates, long, functions, names, \
                 comments, subjects) or to wrap, and the tree if it is another"
            );
            return ExitCode::from(64);
        }
    }
    ExitCode::SUCCESS
}

fn this_tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The figures of one crate.
struct CrateFigures {
    name: String,
    files: usize,
    arrows: Arrows,
    /// Circles between modules, where a file and the files below it count as one module.
    circles: Vec<BTreeSet<Module>>,
    /// The number of circles where each file counts alone.
    nested: usize,
}

impl CrateFigures {
    fn read(root: &Path, name: String) -> Self {
        let source = Crate::read(&root.join("crates").join(&name).join("src"));
        let all = source.arrows();
        let arrows = between_modules(&all);
        let (circles, nested) = (circles(&arrows), circles(&all).len());
        Self { name, files: source.len(), arrows, circles, nested }
    }

    fn print_row(&self, between: &[Arrow]) {
        let Self { name, files, arrows, circles, nested } = self;
        let number: usize = arrows.values().map(BTreeSet::len).sum();
        let uses: Vec<&str> =
            between.iter().filter(|arrow| arrow.from == *name).map(|arrow| &*arrow.to).collect();
        let (circles, uses) = (circles.len(), uses.join(" "));
        println!("{name:<14}{files:>7}{number:>9}{circles:>9}{nested:>9}  {uses}");
    }

    fn print_circles(&self) {
        for circle in &self.circles {
            println!("\ncircle in {}, {} files:", self.name, circle.len());
            for module in circle {
                let targets = self.arrows[module].intersection(circle).map(shown);
                let targets: Vec<String> = targets.collect();
                println!("  {} -> {}", shown(module), targets.join(", "));
            }
        }
    }
}

fn imports(root: &Path) {
    println!("{:<14}{:>7}{:>9}{:>9}{:>9}  uses", "crate", "files", "arrows", "circles", "nested");
    let between = arrows(root);
    let crates = layers::crates(root).into_iter().map(|name| CrateFigures::read(root, name));
    let crates: Vec<CrateFigures> = crates.collect();
    crates.iter().for_each(|inside| inside.print_row(&between));
    crates.iter().for_each(CrateFigures::print_circles);
    let up = upward(&between);
    for arrow in &up {
        println!("\nupward: {} uses {}", arrow.from, arrow.to);
    }
    let number: usize = crates.iter().map(|inside| inside.circles.len()).sum();
    println!("\ncircles: {number}, arrows that run upward: {}", up.len());
}

fn lines(root: &Path) {
    println!("{:<14}{:>9}{:>9}{:>9}", "crate", "shipped", "tests", "all");
    let (mut product, mut proof) = (Lines::default(), Lines::default());
    for name in layers::crates(root) {
        let own = count(&root.join("crates").join(&name));
        let total = if is_proof(&name) { &mut proof } else { &mut product };
        total.shipped += own.shipped;
        total.tests += own.tests;
        row(&name, own);
    }
    row("product", product);
    row("proof", proof);
}

fn print_duplicates(root: &Path) {
    let found = duplicates(root, &["crates"]);
    for Duplicate { lines, here, there } in &found {
        println!("{lines:>4}  {here}  {there}");
    }
    let lines: usize = found.iter().map(|duplicate| duplicate.lines).sum();
    println!("\nruns of lines that stand twice: {}, lines in them: {lines}", found.len());
}

fn print_long(root: &Path) {
    let found = long(root, "crates");
    for (lines, place) in &found {
        println!("{lines:>4}  {place}");
    }
    println!(
        "\nfiles of more than {FILE} lines and functions of more than {FUNCTION}: {}",
        found.len()
    );
}

fn print_functions(root: &Path) {
    let mut longish = Vec::new();
    println!("{:<14}{:>9}{:>9}{:>9}{:>10}", "crate", "number", "median", "longest", "over 25");
    for name in layers::crates(root).into_iter().filter(|name| !is_proof(name)) {
        let all = lengths(root, &format!("crates/{name}/src"));
        let (longest, median) = (all.first(), all.get(all.len() / 2));
        let [longest, median] = [longest, median].map(|one| one.map_or(0, |(lines, _)| *lines));
        let number = all.len();
        let over: Vec<_> = all.into_iter().filter(|(lines, _)| *lines > LONGISH).collect();
        println!("{name:<14}{number:>9}{median:>9}{longest:>9}{:>10}", over.len());
        longish.extend(over);
    }
    longish.sort_by(|one, other| other.cmp(one));
    println!();
    longish.iter().for_each(|(lines, place)| println!("{lines:>4}  {place}"));
    println!("\nfunctions of more than {LONGISH} lines in the product: {}", longish.len());
}

fn print_names(root: &Path) {
    let (shared, twins) = (shared(root), twins(root));
    for (name, files) in &shared {
        let mark = if twins.contains(name) { " (listed)" } else { "" };
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        println!("{name}{mark}: {}", files.join(" "));
    }
    let unlisted = shared.keys().filter(|name| !twins.contains(*name)).count();
    println!("\nnames of several types: {}, not on the page of names: {unlisted}", shared.len());
}

fn print_comments(root: &Path) {
    println!("{:<14}{:>9}{:>15}{:>9}", "crate", "lines", "documentation", "inline");
    let (mut product, mut scripts) = (Comments::default(), Comments::default());
    for name in layers::crates(root) {
        let (rust, lua) = comments(&root.join("crates").join(&name).join("src"));
        row_of_comments(&name, rust);
        if !is_proof(&name) {
            add(&mut product, rust);
        }
        add(&mut scripts, lua);
    }
    row_of_comments("Rust, product", product);
    row_of_comments("Lua", scripts);
}

fn print_subjects(root: &Path) {
    let found = unnamed(root);
    for Unnamed { place, sentence } in &found {
        println!("{place}: {sentence}");
    }
    println!("\nsentences that name no subject: {}", found.len());
}

fn add(total: &mut Comments, own: Comments) {
    total.lines += own.lines;
    total.documentation += own.documentation;
    total.inline += own.inline;
}

#[allow(clippy::cast_precision_loss, reason = "lines of source are few")]
fn row_of_comments(name: &str, comments: Comments) {
    let Comments { lines, documentation, inline } = comments;
    let share = |some: usize| 100.0 * some as f64 / lines.max(1) as f64;
    println!("{name:<14}{lines:>9}{:>14.1}%{:>8.2}%", share(documentation), share(inline));
}

fn is_proof(name: &str) -> bool {
    PROOF.iter().flat_map(|layer| layer.iter()).any(|proof| *proof == name)
}

fn row(name: &str, lines: Lines) {
    let Lines { shipped, tests } = lines;
    println!("{name:<14}{shipped:>9}{tests:>9}{:>9}", shipped + tests);
}
