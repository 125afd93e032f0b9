use std::time::Duration;

use seinpaal_proto::{
    Ticket,
    time::{DEFAULT_TTL, Micros, WAITER_TTL},
};

use crate::{
    CaseStage,
    member::{Member, pass},
};

/// The ages that a place has when its permit is handed over: new, and about to be renewed.
const AGES: [Duration; 2] = [Duration::from_millis(24), Duration::from_millis(4_800)];

/// The default ttl, and one that is slightly longer than a place lasts.
const TTLS: [Micros; 2] = [DEFAULT_TTL, WAITER_TTL / 5 * 6];

pub async fn what_was_waited_for_is_certain_for_two_thirds_of_its_ttl(stage: &CaseStage) {
    for (ttl, age) in TTLS.into_iter().flat_map(|ttl| AGES.map(|age| (ttl, age))) {
        let handed = HandedOver::after(stage, ttl, age).await;
        let (waiter, until) = (&handed.waiter, handed.until);
        let left = until.map(|until| until.saturating_sub(stage.now()));
        assert!(left.is_none_or(|left| left >= waiter.ttl() / 3 * 2), "{ttl}, {age:?}: {left:?}");
        handed.give_back().await;
    }
}

pub async fn what_was_waited_for_is_renewed_before_anybody_is_alarmed(stage: &CaseStage) {
    for (ttl, age) in TTLS.into_iter().flat_map(|ttl| AGES.map(|age| (ttl, age))) {
        let mut handed = HandedOver::after(stage, ttl, age).await;
        let waiter = &mut handed.waiter;
        pass(stage, Duration::from_micros(waiter.ttl()), &mut [waiter]).await;
        let alarms = (handed.holder.alarms(), handed.waiter.alarms());
        assert_eq!(alarms, (vec![], vec![]), "{ttl}, {age:?}");
        handed.give_back().await;
    }
}

/// A permit that was waited for.
struct HandedOver<'a> {
    holder: Member<'a>,
    waiter: Member<'a>,
    ticket: Ticket,
    until: Option<Micros>,
}

impl<'a> HandedOver<'a> {
    /// Returns when the waiter's place has this age.
    async fn after(stage: &'a CaseStage, ttl: Micros, age: Duration) -> Self {
        let (mut holder, mut waiter) =
            (Member::join(stage, ttl).await, Member::join(stage, ttl).await);
        let (first, ticket) = (holder.want(), waiter.want());
        holder.until_held(first).await;
        waiter.act().await;
        pass(stage, age, &mut [&mut holder, &mut waiter]).await;
        holder.release(first);
        holder.act().await;
        let until = waiter.until_held(ticket).await;
        Self { holder, waiter, ticket, until }
    }

    async fn give_back(mut self) {
        self.waiter.release(self.ticket);
        self.waiter.act().await;
    }
}
