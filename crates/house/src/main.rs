//! Prints the order of the source: `imports` who uses whom, `lines` how long each crate is.
//!
//! ```text
//! cargo run -p house -- imports
//! cargo run -p house -- lines ../another-checkout
//! ```

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use house::{
    graph::{self, circles, shown},
    layers::{self, PROOF, arrows, upward},
    lines::{Lines, count},
    source::{Crate, Module},
};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let root = words.get(1).map_or_else(this_tree, PathBuf::from);
    match words.first().map(String::as_str) {
        Some("imports") => imports(&root),
        Some("lines") => lines(&root),
        _ => {
            eprintln!("house: say what to print: imports or lines, and the tree if it is another");
            return ExitCode::from(64);
        }
    }
    ExitCode::SUCCESS
}

fn this_tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn imports(root: &Path) {
    println!("{:<14}{:>7}{:>9}{:>9}  uses", "crate", "files", "arrows", "circles");
    let between = arrows(root);
    let mut all = Vec::new();
    for name in layers::crates(root) {
        let source = Crate::read(&root.join("crates").join(&name).join("src"));
        let (inside, files) = (source.arrows(), source.len());
        let strict = circles(&inside).len();
        let inside = graph::between_modules(&inside);
        let found = circles(&inside);
        let number: usize = inside.values().map(BTreeSet::len).sum();
        let uses: Vec<&str> =
            between.iter().filter(|arrow| arrow.from == name).map(|arrow| &*arrow.to).collect();
        println!(
            "{name:<14}{files:>7}{number:>9}{strict:>9}{:>9}  {}",
            found.len(),
            uses.join(" ")
        );
        all.extend(found.into_iter().map(|circle| (name.clone(), circle, inside.clone())));
    }
    for (name, circle, inside) in &all {
        println!("\ncircle in {name}, {} files:", circle.len());
        for module in circle {
            let targets: Vec<String> =
                inside[module].intersection(circle).map(|other: &Module| shown(other)).collect();
            println!("  {} -> {}", shown(module), targets.join(", "));
        }
    }
    let up = upward(&between);
    for arrow in &up {
        println!("\nupward: {} uses {}", arrow.from, arrow.to);
    }
    println!("\ncircles: {}, arrows that run upward: {}", all.len(), up.len());
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

fn is_proof(name: &str) -> bool {
    PROOF.iter().flat_map(|layer| layer.iter()).any(|proof| *proof == name)
}

fn row(name: &str, lines: Lines) {
    let Lines { shipped, tests } = lines;
    println!("{name:<14}{shipped:>9}{tests:>9}{:>9}", shipped + tests);
}
