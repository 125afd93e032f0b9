//! Recipes for locks and semaphores that many programs copy, as small programs over a little Redis.
//! The checker finds the known fault of each, and tells the shortest history.
//!
//! ```text
//!   program of client A:  step 0, step 1, …   each an atomic look at the store, and what it says
//!   program of client B:  step 0, step 1, …
//!   the world:            any client takes its next step · time passes · a client crashes
//! ```

mod book;
mod counter;
mod list;
mod lock;
mod redlock;
mod store;
mod zset;

use std::{collections::BTreeMap, fmt::Write};

use stateright::{Model, Property};

use crate::explore::shortest;

pub use book::book;
pub use store::RecipeStore;

/// The state of a client's program.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Program {
    /// The next step.
    pub at: u8,
    /// The program's variables.
    pub notes: BTreeMap<&'static str, i64>,
    /// Whether the program runs, holds, waits or has ended.
    pub life: ProgramLife,
}

/// The stage of a program's life.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ProgramLife {
    /// The program runs, and holds nothing.
    Runs,
    /// The program believes that it holds a permit.
    Holds,
    /// The program waits for a step of another program.
    Blocked,
    /// The program has ended.
    Done,
    /// The program crashed.
    Crashed,
}

impl Program {
    /// Returns whether the program believes at this time that it holds a permit.
    fn holds(&self, now: i64) -> bool {
        self.life == ProgramLife::Holds && self.notes.get("until").is_none_or(|until| *until > now)
    }
}

/// The fault of a world, in words.
pub type RecipeFault = String;

/// A recipe: the steps of its clients, and the fault that must not happen.
pub trait Recipe: Send + Sync + 'static {
    /// The recipe's name.
    fn title(&self) -> &'static str;
    /// Describes the recipe in a few sentences.
    fn sketch(&self) -> &'static str;
    /// Names the part of Seinpaal that does without the fault.
    fn instead(&self) -> &'static str;
    /// The number of clients, and the number of permits.
    fn size(&self) -> (usize, usize);
    /// Prepares the store.
    fn begin(&self, _store: &mut RecipeStore) {}
    /// The lead of a client's clock over the store's.
    fn skew(&self, _who: usize) -> i64 {
        0
    }
    /// The largest number of crashes, and the instant at which time stops.
    fn trouble(&self) -> (u8, i64);
    /// Takes a program's next step. Returns the step in words, or `None` if the program cannot go
    /// on now.
    fn step(&self, who: usize, me: &mut Program, store: &mut RecipeStore) -> Option<String>;
    /// Returns a fault other than too many holders.
    fn wrong(&self, _world: &Kitchen) -> Option<RecipeFault> {
        None
    }
}

/// One moment of clients that follow a recipe.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Kitchen {
    /// The store.
    pub store: RecipeStore,
    /// The clients.
    pub programs: Vec<Program>,
    /// Crashes that may still come.
    pub crashes: u8,
}

/// A step of a history.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Move {
    /// A client takes its next step.
    Step(usize),
    /// A client crashes.
    Crash(usize),
    /// A unit of time passes.
    Tick,
}

/// A recipe as Stateright sees it.
#[derive(Clone, Copy, Debug)]
pub struct Followed<R>(pub R);

impl<R: Recipe + Copy> Model for Followed<R> {
    type State = Kitchen;
    type Action = Move;

    fn init_states(&self) -> Vec<Kitchen> {
        let mut store = RecipeStore::default();
        self.0.begin(&mut store);
        let program = Program { at: 0, notes: BTreeMap::new(), life: ProgramLife::Runs };
        let (clients, _) = self.0.size();
        vec![Kitchen { store, programs: vec![program; clients], crashes: self.0.trouble().0 }]
    }

    fn actions(&self, world: &Kitchen, moves: &mut Vec<Move>) {
        for (who, program) in world.programs.iter().enumerate() {
            if matches!(program.life, ProgramLife::Done | ProgramLife::Crashed) {
                continue;
            }
            moves.push(Move::Step(who));
            if world.crashes > 0 {
                moves.push(Move::Crash(who));
            }
        }
        if world.store.now < self.0.trouble().1 {
            moves.push(Move::Tick);
        }
    }

    fn next_state(&self, world: &Kitchen, action: Move) -> Option<Kitchen> {
        let mut next = world.clone();
        self.follow(&mut next, action)?;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(KEPT, |model: &Self, world: &Kitchen| model.fault(world).is_none())]
    }
}

const KEPT: &str = "the recipe keeps its word";

impl<R: Recipe + Copy> Followed<R> {
    /// Makes a move, and returns it in words. Returns `None` if the move is not possible.
    fn follow(&self, world: &mut Kitchen, action: Move) -> Option<String> {
        match action {
            Move::Tick => {
                world.store.pass();
                Some(String::from("Time passes."))
            }
            Move::Crash(who) => {
                world.crashes -= 1;
                world.programs[who].life = ProgramLife::Crashed;
                Some(format!("{} crashes.", name(who)))
            }
            Move::Step(who) => {
                world.store.asker_ahead = self.0.skew(who);
                let said = self.0.step(who, &mut world.programs[who], &mut world.store)?;
                Some(format!("{}: {said}", name(who)))
            }
        }
    }

    fn fault(&self, world: &Kitchen) -> Option<RecipeFault> {
        let (_, limit) = self.0.size();
        let holders: Vec<String> = (0..world.programs.len())
            .filter(|who| world.programs[*who].holds(world.store.now))
            .map(name)
            .collect();
        if holders.len() > limit {
            let exist = if limit == 1 { "there is one permit" } else { "there are two permits" };
            return Some(format!("{} hold at once, and {exist}.", holders.join(" and ")));
        }
        self.0.wrong(world)
    }

    /// The shortest history that ends in a fault, with that fault.
    #[must_use]
    fn shortest(self) -> Option<(Vec<String>, RecipeFault)> {
        let path = shortest(&self).into_iter().next()?.1;
        let mut world = self.init_states().pop()?;
        let told = path.iter().filter_map(|action| self.follow(&mut world, *action)).collect();
        Some((told, self.fault(&world)?))
    }
}

fn name(who: usize) -> String {
    char::from(b'A' + u8::try_from(who).unwrap_or(0)).to_string()
}

/// Writes a recipe's chapter: its sketch, the shortest history in which it fails, and the part of
/// Seinpaal to use instead.
fn chapter<R: Recipe + Copy>(recipe: R) -> String {
    let mut text = format!("## {}\n\n{}\n\n", recipe.title(), wrapped(recipe.sketch()));
    match Followed(recipe).shortest() {
        None => text.push_str("No fault was found.\n"),
        Some((told, fault)) => {
            for (nth, line) in told.iter().enumerate() {
                let _ = writeln!(text, "{}. {line}", nth + 1);
            }
            let _ = writeln!(text, "\n**{fault}**");
        }
    }
    let _ = writeln!(text, "\n{}\n", wrapped(&format!("Here: {}", recipe.instead())));
    text
}

/// Wraps a text at 100 columns, as on every page.
fn wrapped(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        let fits = column + 1 + length <= 100;
        if column > 0 {
            page.push(if fits { ' ' } else { '\n' });
        }
        column = if column > 0 && fits { column + 1 + length } else { length };
        page.push_str(word);
    }
    page
}
