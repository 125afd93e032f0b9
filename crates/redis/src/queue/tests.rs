//! What the files say about themselves is true.

use super::pieces::QUEUE;

macro_rules! pieces {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../lua/", $name, ".lua")))),*]
    };
}

#[rustfmt::skip]
const PIECES: [(&str, &str); 24] = pieces![
    "queue/forms", "queue/straight", "queue/straight_push", "queue/straight_work",
    "queue/straight_pop", "queue/straight_end", "queue/rest", "queue/pack", "queue/state", "send",
    "queue/items", "queue/order", "listening", "queue/time", "queue/workers", "queue/arguments",
    "queue/push", "queue/pop", "queue/finish", "queue/steer", "queue/inspect", "queue/list",
    "refusal", "queue/step"
];

/// What a header says in this field. Its further lines are indented as far as its first.
fn field(source: &str, field: &str) -> Option<String> {
    let start = format!("-- {field} ");
    let mut lines = source.lines().take_while(|line| line.starts_with("--"));
    let first = lines.find_map(|line| line.strip_prefix(&start))?;
    let more = lines.map_while(|line| line.strip_prefix("--        "));
    Some([first].into_iter().chain(more).map(str::trim).collect::<Vec<_>>().join(" "))
}

#[test]
fn every_file_starts_with_what_it_is_given_and_answers() {
    for (path, source) in PIECES {
        let name = path.trim_start_matches("queue/");
        assert!(source.starts_with(&format!("-- {name}: ")), "{name}");
        assert_eq!(field(source, "keys").as_deref(), Some("records order"), "{name}");
        for said in ["args", "reply", "cost"] {
            assert!(field(source, said).is_some(), "{name} does not say its {said}");
        }
    }
    assert_eq!(PIECES.map(|(_, source)| source).concat(), QUEUE);
}

#[test]
fn every_reply_in_a_header_is_given_by_its_file() {
    for (name, source) in PIECES {
        let replies = field(source, "reply").unwrap_or_default();
        if replies == "nothing" || replies.contains(',') || replies.contains(';') {
            continue;
        }
        for word in replies.split(' ') {
            let is_given = [format!("'{word}'"), format!("'{word} ")];
            let outside = ["returned", "died"].contains(&word); // a failure is for two files
            assert!(
                outside || is_given.iter().any(|w| source.contains(w.as_str())),
                "{name}: {word}"
            );
        }
    }
}

#[test]
fn the_script_asks_the_clock_in_one_place_and_names_no_key_itself() {
    assert_eq!(QUEUE.matches("'time'").count(), 1);
    assert_eq!(QUEUE.matches("KEYS[").count(), 2);
}
