//! A client with a session, as users have it. Its clock is the clock of the stage.

use std::time::Duration;

use seinpaal::store::News;
use seinpaal_proto::{
    Enqueue, Kind, Permits, Priority, Ticket,
    session::{Event, Session, SessionConfig, Want},
    time::Micros,
};

use crate::{CaseStage, InboxClient};

/// A session over the store, and the events that it told.
pub(crate) struct Member<'a> {
    stage: &'a CaseStage,
    client: InboxClient,
    session: Session,
    pub(crate) told: Vec<Event>,
}

impl<'a> Member<'a> {
    /// Joins with a session whose permits have this ttl.
    pub(crate) async fn join(stage: &'a CaseStage, ttl: Micros) -> Self {
        let client = stage.client().await;
        let config = SessionConfig { ttl, ..SessionConfig::default() };
        let config = match client.store().longest_lease() {
            Some(longest) => config.within(longest),
            None => config,
        };
        let mut session = Session::new(client.inbox(), config);
        session.learn_clock(client.store().first_reading().shows, stage.now());
        Self { stage, client, session, told: Vec::new() }
    }

    /// The ttl that its permits have.
    pub(crate) fn ttl(&self) -> Micros {
        self.session.config().schedule(self.session.config().ttl).ttl()
    }

    /// Wants a permit, and waits for it.
    pub(crate) fn want(&mut self) -> Ticket {
        let want = Want {
            permits: Permits::ONE,
            kind: Kind::Semaphore,
            wishes: seinpaal_proto::SlotNames::none(),
            limit: None,
            enqueue: Enqueue::Yes { max_waiting: None },
            priority: Priority::default(),
            ttl: self.session.config().ttl,
            deadline: None,
            about: "".into(),
        };
        self.session.acquire(self.stage.now(), self.stage.name(), want)
    }

    pub(crate) fn release(&mut self, ticket: Ticket) {
        self.session.release(self.stage.now(), ticket, None);
    }

    /// Does all that is due, as a driver would.
    pub(crate) async fn act(&mut self) {
        loop {
            while let Some(news) = self.client.try_news() {
                self.hear(news);
            }
            self.session.handle_timeout(self.stage.now());
            let call = self.session.poll_call(self.stage.now());
            self.told.extend(std::iter::from_fn(|| self.session.poll_event()));
            let Some(call) = call else { return };
            let replies = self.client.call(&call.batch).await;
            self.session.handle_replies(self.stage.now(), call.id, replies);
        }
    }

    /// Acts until the session holds this ticket. Returns until when that is certain. `None`: for as
    /// long as it lives.
    pub(crate) async fn until_held(&mut self, wanted: Ticket) -> Option<Micros> {
        loop {
            self.act().await;
            let until = self.told.iter().find_map(|event| match event {
                Event::Acquired { ticket, valid_until, .. } if *ticket == wanted => {
                    Some(*valid_until)
                }
                _ => None,
            });
            match until {
                Some(until) => return until,
                None => {
                    let news = self.client.next_news().await;
                    self.hear(news);
                }
            }
        }
    }

    fn hear(&mut self, news: News) {
        let now = self.stage.now();
        match news {
            News::Wakeup(wakeup) => self.session.handle_wakeup(now, wakeup),
            News::LookAgain => self.session.look_again(now),
            News::Queue(_) => {}
        }
    }

    /// The events that no client may hear where nothing fails.
    pub(crate) fn alarms(&self) -> Vec<&Event> {
        let is_alarm = |event: &&Event| {
            matches!(event, Event::Danger { .. } | Event::Lost { .. } | Event::Refused { .. })
        };
        self.told.iter().filter(is_alarm).collect()
    }
}

/// Lets time pass in small steps, while these members do what is due.
pub(crate) async fn pass(stage: &CaseStage, time: Duration, members: &mut [&mut Member<'_>]) {
    const STEPS: u32 = 24;
    for _ in 0..STEPS {
        stage.advance(time / STEPS);
        for member in &mut *members {
            member.act().await;
        }
    }
}
