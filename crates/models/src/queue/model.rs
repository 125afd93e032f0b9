//! A world of a queue as Stateright sees it.

use stateright::{Model, Property};

use super::{
    action::Action,
    bounds::{Bounds, PlayedEnd},
    broken::Broken,
    story,
    world::World,
};
use crate::game::{Game, is_sample};

/// The names of the properties, with the rule that each is about.
pub const PROPERTIES: [(&str, Option<Broken>); 11] = [
    ("queue: no item is lost", Some(Broken::Lost)),
    ("queue: nothing is pushed or delivered again", Some(Broken::Again)),
    ("queue: a delivery is ended by its worker or its time", Some(Broken::Ended)),
    ("queue: no more items are in work than the limits allow", Some(Broken::Limit)),
    ("queue: belief in a delivery does not outlast it", Some(Broken::Believed)),
    ("queue: numbers grow strictly", Some(Broken::Number)),
    ("queue: every answer to a program is true", Some(Broken::Answer)),
    ("queue: the first item that is due is delivered first", Some(Broken::Order)),
    ("queue: deliveries are counted", Some(Broken::Count)),
    ("queue: every total agrees with what it counts", Some(Broken::Books)),
    ("queue: every item reaches an idle worker, and nothing is left behind", None),
];

/// The property about a rule. `None` stands for the property about progress.
#[must_use]
pub fn property(broken: Option<Broken>) -> &'static str {
    let all = PROPERTIES.iter().find(|(_, rule)| *rule == broken);
    all.map_or("", |(name, _)| name)
}

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
            kept(Broken::Lost, |_, w| w.broken() != Some(Broken::Lost)),
            kept(Broken::Again, |_, w| w.broken() != Some(Broken::Again)),
            kept(Broken::Ended, |_, w| w.broken() != Some(Broken::Ended)),
            kept(Broken::Limit, |_, w| w.broken() != Some(Broken::Limit)),
            kept(Broken::Believed, |_, w| w.broken() != Some(Broken::Believed)),
            kept(Broken::Number, |_, w| w.broken() != Some(Broken::Number)),
            kept(Broken::Answer, |_, w| w.broken() != Some(Broken::Answer)),
            kept(Broken::Order, |_, w| w.broken() != Some(Broken::Order)),
            kept(Broken::Count, |_, w| w.broken() != Some(Broken::Count)),
            kept(Broken::Books, |_, w| w.broken() != Some(Broken::Books)),
            Property::always(property(None), |bounds: &Self, w: &World| {
                !bounds.samples(w) || w.quiet(bounds).is_ok()
            }),
        ]
    }
}

fn kept(broken: Broken, holds: fn(&Bounds, &World) -> bool) -> Property<Bounds> {
    Property::always(property(Some(broken)), holds)
}

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

    fn rarity(action: &Action) -> usize {
        match action {
            Action::Befall(..) | Action::Forward | Action::Backward => 12,
            Action::Mangle(..) | Action::Cancel(_) => 6,
            Action::Finish(_, _, end) if *end != PlayedEnd::Acknowledge => 3,
            Action::Finish(..) => 2,
            _ => 1,
        }
    }

    fn tell(&self, actions: &[Action]) -> String {
        story::tell(self, actions)
    }
}
