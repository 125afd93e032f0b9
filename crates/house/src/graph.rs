//! Circles in a graph of modules.

use std::collections::BTreeSet;

use crate::source::{Arrows, Module};

/// The circles: sets of modules each of which reaches all others of its set. Every module that is
/// on a circle is in exactly one set.
#[must_use]
pub fn circles(arrows: &Arrows) -> Vec<BTreeSet<Module>> {
    let mut found: Vec<BTreeSet<Module>> = Vec::new();
    for module in arrows.keys() {
        if found.iter().any(|circle| circle.contains(module)) {
            continue;
        }
        let reached = reached_from(module, arrows);
        let returns = |other: &&Module| reached_from(other, arrows).contains(module);
        let circle: BTreeSet<Module> = reached.iter().filter(returns).cloned().collect();
        if !circle.is_empty() {
            found.push(circle);
        }
    }
    found
}

/// The arrows without those between a module and one that is inside it.
#[must_use]
pub fn between_modules(arrows: &Arrows) -> Arrows {
    let apart = |a: &Module, b: &Module| !a.starts_with(b) && !b.starts_with(a);
    let keep = |(from, targets): (&Module, &BTreeSet<Module>)| {
        (from.clone(), targets.iter().filter(|to| apart(from, to)).cloned().collect())
    };
    arrows.iter().map(keep).collect()
}

/// All modules that arrows lead to from this one, itself only if it is on a circle.
fn reached_from(module: &Module, arrows: &Arrows) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(next) = open.pop() {
        for target in arrows.get(next).into_iter().flatten() {
            if reached.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    reached
}

/// The name of a module as a path.
#[must_use]
pub fn shown(module: &Module) -> String {
    if module.is_empty() { "crate".to_owned() } else { module.join("::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(text: &str) -> Arrows {
        let mut arrows = Arrows::new();
        for pair in text.split_whitespace() {
            let (from, to) = pair.split_once('>').expect("an arrow");
            arrows.entry(vec![from.to_owned()]).or_default().insert(vec![to.to_owned()]);
        }
        arrows
    }

    #[test]
    fn modules_that_reach_each_other_are_a_circle() {
        let found = circles(&arrows("a>b b>c c>a c>d d>e e>d x>a"));
        let shown: Vec<String> =
            found.iter().map(|circle| circle.iter().map(shown).collect()).collect();
        assert_eq!(shown, ["abc", "de"]);
    }

    #[test]
    fn arrows_that_join_again_are_no_circle() {
        assert!(circles(&arrows("a>b a>c b>d c>d")).is_empty());
    }
}
