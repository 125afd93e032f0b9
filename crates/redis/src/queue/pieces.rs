//! The script of queues, from its pieces.

/// The script of queues, without how wakeups travel.
pub(crate) const QUEUE: &str = concat!(
    include_str!("../lua/queue/forms.lua"),
    include_str!("../lua/queue/straight.lua"),
    include_str!("../lua/queue/straight_push.lua"),
    include_str!("../lua/queue/straight_work.lua"),
    include_str!("../lua/queue/straight_pop.lua"),
    include_str!("../lua/queue/straight_end.lua"),
    include_str!("../lua/queue/rest.lua"),
    include_str!("../lua/queue/pack.lua"),
    include_str!("../lua/queue/state.lua"),
    include_str!("../lua/send.lua"),
    include_str!("../lua/queue/items.lua"),
    include_str!("../lua/queue/order.lua"),
    include_str!("../lua/listening.lua"),
    include_str!("../lua/queue/time.lua"),
    include_str!("../lua/queue/workers.lua"),
    include_str!("../lua/queue/arguments.lua"),
    include_str!("../lua/queue/push.lua"),
    include_str!("../lua/queue/pop.lua"),
    include_str!("../lua/queue/finish.lua"),
    include_str!("../lua/queue/steer.lua"),
    include_str!("../lua/queue/inspect.lua"),
    include_str!("../lua/queue/list.lua"),
    include_str!("../lua/refusal.lua"),
    include_str!("../lua/queue/step.lua"),
);
