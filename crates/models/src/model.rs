//! A world as Stateright sees it.

use stateright::{Model, Property};

use crate::{
    bounds::Bounds,
    game::{Game, is_sample},
    story,
    world::{Action, Broken, World},
};

impl Model for Bounds {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(self, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.act(self, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(HELD, |_, w: &World| w.broken() != Some(Broken::Held)),
            Property::always(BELIEVED, |_, w: &World| w.broken() != Some(Broken::Believed)),
            Property::always(UNTOLD, |_, w: &World| w.broken() != Some(Broken::Untold)),
            Property::always(FENCE, |_, w: &World| w.broken() != Some(Broken::Fence)),
            Property::always(TWICE, |_, w: &World| w.broken() != Some(Broken::Twice)),
            Property::always(SHORTENED, |_, w: &World| w.broken() != Some(Broken::Shortened)),
            Property::always(ORDER, |_, w: &World| w.broken() != Some(Broken::Order)),
            Property::always(TERMS, |_, w: &World| w.broken() != Some(Broken::Terms)),
            Property::always(NAMED, |_, w: &World| w.broken() != Some(Broken::Naming)),
            Property::always(CALM, |_, w: &World| w.broken() != Some(Broken::Alarm)),
            Property::always(BOOKS, |_, w: &World| w.broken() != Some(Broken::Books)),
            Property::always(PROGRESS, |bounds: &Self, w: &World| {
                !bounds.samples(w) || w.quiet(bounds).is_ok()
            }),
        ]
    }
}

/// The property about permits that are held.
pub const HELD: &str = "the ledger lets no more than the limit hold";
/// The property about beliefs.
pub const BELIEVED: &str = "clients believe to hold only what the ledger has them hold";
/// The property about permits that another client took or ended.
pub const UNTOLD: &str = "a holder whose permit another takes or ends is told, or its belief ends";
/// The property about fences.
pub const FENCE: &str = "fences grow strictly";
/// The property about tickets.
pub const TWICE: &str = "one ticket, one grant; one attach, one grant";
/// The property about leases.
pub const SHORTENED: &str = "nobody's lease is shortened or ended by another";
/// The property about order.
pub const ORDER: &str = "first come, first served among those reachable";
/// The property about limits.
pub const TERMS: &str = "the limit in force is what the rules say";
/// The property about names of slots.
pub const NAMED: &str =
    "a waiter that wishes for a slot gets it in its turn, and keeps nobody from another slot";
/// The property about alarms.
pub const CALM: &str =
    "where nothing fails, no client is in danger, loses or is refused, and every grant lasts";
/// The property about the ledger's books.
pub const BOOKS: &str = "every total agrees with what it counts";
/// The property about progress.
pub const PROGRESS: &str = "every waiter is served, and nothing is left behind";

/// All properties.
pub const PROPERTIES: [&str; 12] =
    [HELD, BELIEVED, UNTOLD, FENCE, TWICE, SHORTENED, ORDER, TERMS, NAMED, CALM, BOOKS, PROGRESS];

impl Bounds {
    fn samples(&self, world: &World) -> bool {
        world.broken().is_none() && is_sample(world, self.quiet_one_in)
    }
}

impl Game for Bounds {
    fn name(&self) -> &'static str {
        self.name
    }

    fn broken(&self, world: &World) -> Option<String> {
        world.broken().map(|broken| format!("Broken({broken:?})"))
    }

    fn quiet(&self, world: &World) -> Result<u64, String> {
        world.quiet(self).map_err(|stuck| format!("Stuck({stuck:?})"))
    }

    /// Faults are rarer than other steps, and time passes in about every fourth step.
    fn rarity(action: &Action) -> usize {
        match action {
            Action::Befall(..) | Action::Forward | Action::Backward => 12,
            Action::Mangle(..) => 6,
            Action::Cancel(..) | Action::Attach(..) | Action::Detach(..) => 4,
            Action::Operate(..) => 6,
            _ => 1,
        }
    }

    fn tell(&self, actions: &[Action]) -> String {
        story::tell(self, actions)
    }
}
