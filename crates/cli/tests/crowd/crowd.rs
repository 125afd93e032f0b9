//! The crowd: processes of the program, one for each person, who has a file to compress.

use std::{
    fs::{self, File},
    process::{Child, Command},
};

use crate::{NAME, stamps::Visit, support::World};

pub(crate) const PEOPLE: usize = 200;
/// The ttl of a crowd with a murderer in it. The place of a killed program is free after this time,
/// and each round has many such places. All other tests use the default.
pub(crate) const SHORT_TTL: &[&str] = &["--ttl", "4s"];
const FILE_SIZE: usize = 200_000;

/// The script that each person executes inside. It writes down when it came in, with its process
/// id, fence and slot, compresses its file, and writes down the end.
const WORK: &str = r#"
echo "$(date +%s%N) $$ $SEINPAAL_FENCE $SEINPAAL_SLOT" > "in.$1"
gzip -c "file.$1" > "file.$1.gz"
echo "$(date +%s%N)" > "out.$1"
"#;

pub(crate) struct Crowd<'a> {
    world: &'a World,
    people: Vec<Child>,
}

impl<'a> Crowd<'a> {
    /// Starts a program with these flags for each person.
    pub(crate) fn start(world: &'a World, flags: &[&str]) -> Self {
        (0..PEOPLE).for_each(|person| write_file(world, person));
        let people = (0..PEOPLE).map(|person| start(world, flags, person)).collect();
        Self { world, people }
    }

    pub(crate) fn size(&self) -> usize {
        self.people.len()
    }

    pub(crate) fn pid(&self, person: usize) -> u32 {
        self.people[person].id()
    }

    /// Waits for the end of a program. Returns its status, if it was not killed.
    pub(crate) fn end_of(&mut self, person: usize) -> Option<i32> {
        self.people[person].wait().unwrap().code()
    }

    pub(crate) fn is_there(&mut self, person: usize) -> bool {
        self.people[person].try_wait().unwrap().is_none()
    }

    /// Kills the program, but not its command.
    pub(crate) fn kill(&mut self, person: usize) {
        self.people[person].kill().unwrap();
    }

    /// Returns a person's time inside by its own account. `None` if it has not been inside.
    pub(crate) fn visit(&self, person: usize) -> Option<Visit> {
        Visit::read(self.world.root(), person)
    }

    /// Returns all visits. `last_seen` says until when a visitor without an end was certainly
    /// inside.
    pub(crate) fn visits(&self, last_seen: impl Fn(usize) -> Option<u128>) -> Vec<Visit> {
        let visits = (0..self.size()).filter_map(|person| {
            let mut visit = self.visit(person)?;
            visit.end = visit.end.or_else(|| last_seen(person));
            Some(visit)
        });
        visits.collect()
    }

    /// Checks that a person's compressed file unpacks to the original.
    pub(crate) fn assert_compressed(&self, person: usize) {
        let unpacked = Command::new("gzip")
            .arg("-dc")
            .arg(self.world.path(&format!("file.{person}.gz")))
            .output()
            .unwrap();
        assert!(unpacked.status.success(), "{unpacked:?}");
        let file = fs::read(self.world.path(&format!("file.{person}"))).unwrap();
        assert!(unpacked.stdout == file, "file {person} is damaged");
    }

    pub(crate) fn said(&self, person: usize) -> String {
        let said = fs::read_to_string(self.world.path(&format!("said.{person}"))).unwrap();
        format!("{person}: {said}")
    }
}

impl Drop for Crowd<'_> {
    /// Cleans up after a failed test.
    fn drop(&mut self) {
        for person in &mut self.people {
            let _ = person.kill();
            let _ = person.wait();
        }
    }
}

fn start(world: &World, flags: &[&str], person: usize) -> Child {
    let number = person.to_string();
    let line = [&["run", "-j", "3"], flags, &[NAME, "--", "sh", "-c", WORK, "sh", &number]];
    let said = File::create(world.path(&format!("said.{person}"))).unwrap();
    world.command(&line.concat()).stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap()
}

/// Writes words in an order that depends on the number. The file is neither trivial nor impossible
/// to compress.
fn write_file(world: &World, person: usize) {
    const WORDS: [&str; 8] =
        ["ship ", "signal ", "lock ", "water ", "bridge ", "tide ", "2 ", "\n"];
    let mut text = String::with_capacity(FILE_SIZE + 8);
    let mut rng = fastrand::Rng::with_seed(person as u64);
    while text.len() < FILE_SIZE {
        text.push_str(WORDS[rng.usize(..WORDS.len())]);
    }
    fs::write(world.path(&format!("file.{person}")), text).unwrap();
}
