//! The remark on a name that nobody uses, which may be mistyped.

use seinpaal::{Name, Seinpaal, Snapshot};
use strsim::osa_distance;

use crate::output::{Voice, text::is_unknown};

/// The most names that are suggested.
const SHOWN: usize = 3;

/// Returns words that nobody uses this name, if that is so, and which names are nearly the same.
pub(super) async fn remark(seinpaal: &Seinpaal, seen: &Snapshot, voice: Voice) -> Option<String> {
    if voice.is_quiet() || !is_unknown(seen) {
        return None;
    }
    let all = seinpaal.list("").await.unwrap_or_default();
    let near = nearest(&seen.name, all.iter().map(|other| &other.name));
    let near = match near.as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(" or ")),
    };
    Some(format!("{}: nobody uses this name yet, and nothing is set for it{near}", seen.name))
}

/// Returns the names that differ in few characters, the nearest first.
fn nearest<'a>(name: &str, others: impl Iterator<Item = &'a Name>) -> Vec<&'a str> {
    let most = (name.chars().count() / 3).min(3);
    let lower = name.to_lowercase();
    let distance = |other: &'a Name| (osa_distance(&lower, &other.to_lowercase()), other.as_str());
    let mut near: Vec<_> = others.map(distance).filter(|(far, _)| *far <= most).collect();
    near.sort_unstable();
    near.into_iter().map(|(_, other)| other).filter(|other| *other != name).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_few_characters_are_near() {
        let all = ["api", "Apii", "apis", "builds", "builds/linux"].map(|n| Name::new(n).unwrap());
        let near = |name| nearest(name, all.iter());
        assert_eq!(near("apii"), ["Apii", "api", "apis"]);
        assert_eq!(near("biulds"), ["builds"]);
        assert_eq!(near("nothing like it"), [""; 0]);
    }
}
