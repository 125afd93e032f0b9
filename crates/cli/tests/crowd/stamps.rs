//! Reads and judges the lines that the commands wrote down.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
};

/// One command's time inside.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(crate) person: usize,
    pub(crate) pid: u32,
    pub(crate) fence: u64,
    pub(crate) slot: u32,
    /// The moment of entry, in nanoseconds on the clock of `date`.
    pub(crate) start: u128,
    pub(crate) end: Option<u128>,
}

impl Visit {
    /// Reads a visit. A line that is not whole counts as not written yet.
    pub(crate) fn read(root: &Path, person: usize) -> Option<Self> {
        let line = whole_line(&root.join(format!("in.{person}")))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [start, pid, fence, slot] = words[..] else { panic!("{person} wrote {line:?}") };
        let end = whole_line(&root.join(format!("out.{person}")));
        Some(Self {
            person,
            pid: pid.parse().unwrap(),
            fence: fence.parse().unwrap(),
            slot: slot.parse().unwrap(),
            start: start.parse().unwrap(),
            end: end.map(|end| end.trim().parse().unwrap()),
        })
    }

    /// Returns the end of the visit. A command that was killed before it was seen alive counts as
    /// inside for no time.
    fn end(&self) -> u128 {
        self.end.unwrap_or(self.start).max(self.start)
    }
}

fn whole_line(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'))
}

/// Returns a description of a moment at which more than three commands were inside, or two in one
/// slot.
pub(crate) fn crowding(visits: &[Visit]) -> Option<String> {
    visits.iter().find_map(|visit| {
        let beside = |other: &&Visit| other.start <= visit.start && visit.start < other.end();
        let inside: Vec<&Visit> = visits.iter().filter(beside).collect();
        let in_slot = inside.iter().filter(|other| other.slot == visit.slot).count();
        let is_bad = inside.len() > 3 || in_slot > 1 || visit.slot > 2;
        is_bad.then(|| format!("at {}: {inside:#?}", visit.start))
    })
}

/// Returns the number of keys that the server has.
pub(crate) fn keys(socket: &Path) -> u64 {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"DBSIZE\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.trim_start_matches(':').trim().parse().unwrap()
}

#[test]
fn a_fourth_visitor_and_a_second_in_a_slot_are_noticed() {
    let visit = |person: usize, slot, start, end| Visit {
        person,
        pid: 0,
        fence: 0,
        slot,
        start,
        end: Some(end),
    };
    let mut visits = vec![visit(0, 0, 0, 10), visit(1, 1, 1, 10), visit(2, 2, 2, 10)];
    assert_eq!(crowding(&visits), None);
    visits.push(visit(3, 0, 10, 20));
    assert_eq!(crowding(&visits), None);
    visits.push(visit(4, 1, 9, 10));
    assert!(crowding(&visits).is_some());
    visits[1].end = Some(9);
    visits[0].end = Some(11);
    assert!(crowding(&visits).is_some());
}
