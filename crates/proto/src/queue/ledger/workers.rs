//! Idle workers: which of them are called for available items, and which one watches for the next
//! event that comes by time.

use super::{CALL_WAIT, Ledger, PLACE_TTL};
use crate::{
    ledger::{Contact, Contacts},
    queue::{
        item::Standing,
        reply::What,
        state::{Place, State, WorkerCall},
    },
    time::Micros,
};

impl<S: State, C: Contacts> Ledger<'_, S, C> {
    /// Calls as many workers as the available items need, less those that were called already and
    /// will come. A called worker is given nothing before it comes.
    pub(super) fn call_workers(&mut self) -> Result<(), S::Error> {
        // Unanswered calls are forgotten first: `wanted` counts them, and more workers are called
        // only beyond that number.
        self.forget_unanswered_calls()?;
        if self.is_empty() {
            self.call_those_that_drain()?;
        }
        while self.head.wanted < self.available() {
            let Some(first) = self.first_reachable()? else { break };
            if !self.has_work() {
                break;
            }
            self.call(first)?;
        }
        Ok(())
    }

    /// Returns how many items could be delivered now. A group counts with one item, because taking
    /// that item makes the next one available.
    fn available(&self) -> u32 {
        if !self.delivers() {
            return 0;
        }
        let room =
            self.head.limit.map_or(u32::MAX, |limit| limit.saturating_sub(self.head.in_work));
        self.head.open.min(room)
    }

    fn is_empty(&self) -> bool {
        self.head.ready == 0 && self.head.delayed == 0 && self.head.in_work == 0
    }

    fn call_those_that_drain(&mut self) -> Result<(), S::Error> {
        while let Some(first) = self.first_reachable()? {
            // Workers that drain stand first, so there are none behind a worker that does not.
            if !first.drains || !self.has_work() {
                break;
            }
            self.call(first)?;
        }
        Ok(())
    }

    fn call(&mut self, mut place: Place) -> Result<(), S::Error> {
        self.head.idle = self.head.idle.saturating_sub(1);
        self.head.called += 1;
        self.head.wanted += place.want;
        place.call = WorkerCall::Since(self.now);
        self.state.put_place(&place)?;
        self.wake(place.inbox, What::Called);
        Ok(())
    }

    /// Skips a called worker that did not ask within its time. It can ask again at any time.
    fn forget_unanswered_calls(&mut self) -> Result<(), S::Error> {
        while let Some(place) = self.first_called()? {
            let WorkerCall::Since(at) = place.call else { break };
            // A call that lies in the future was made before the clock was set back, and is over,
            // too.
            if at.abs_diff(self.now) < CALL_WAIT || !self.has_work() {
                break;
            }
            self.remove_place(&place)?;
        }
        Ok(())
    }

    /// Returns the first worker in line that can be reached. Workers that cannot be reached lose
    /// their places, and so do workers whose place has ended and a watcher that has not looked in
    /// time. They ask again when they are back.
    fn first_reachable(&mut self) -> Result<Option<Place>, S::Error> {
        while let Some(place) = self.first_in_line()? {
            if self.is_in_time(&place)
                && matches!(self.contact(place.inbox), Contact::Listening | Contact::Alive)
            {
                return Ok(Some(place));
            }
            if !self.has_work() {
                break;
            }
            self.remove_place(&place)?;
        }
        Ok(None)
    }

    /// Ends the places of workers that have not been heard from. Otherwise they would stay for as
    /// long as no item calls a worker.
    pub(super) fn end_places(&mut self) -> Result<(), S::Error> {
        while let Some(place) = self.first_in_line()? {
            if self.is_in_time(&place) || !self.has_work() {
                break;
            }
            self.remove_place(&place)?;
        }
        Ok(())
    }

    fn is_in_time(&self, place: &Place) -> bool {
        let has_overslept = self.head.watch == Some(place.inbox)
            && place.inbox != self.asker
            && self.head.watch_at + CALL_WAIT < self.now;
        // A place that ends later than any place can was given before the clock was set back.
        let ends_in_time = self.now < place.until && place.until <= self.now + PLACE_TTL;
        ends_in_time && !has_overslept
    }

    /// Tells the first worker in line when the next event comes by time, unless it will look by
    /// then anyway.
    pub(super) fn tell_watch(&mut self) -> Result<Option<Micros>, S::Error> {
        let at = if self.head.idle == 0 { None } else { self.next_event()? };
        let first = match at {
            Some(at) => self.first_reachable()?.map(|first| (first, at)),
            None => None,
        };
        let Some((first, at)) = first else {
            self.head.watch = None;
            return Ok(None);
        };
        // At least 1: with 0 the worker would look again in the same microsecond.
        let look_in = at.saturating_sub(self.now).max(1);
        let will_look = self.head.watch == Some(first.inbox)
            && self.head.watch_at <= at
            && self.head.watch_at > self.now;
        if first.inbox != self.asker && will_look {
            return Ok(None);
        }
        self.head.watch = Some(first.inbox);
        self.head.watch_at = self.now + look_in;
        if first.inbox == self.asker {
            return Ok(Some(look_in));
        }
        self.wake(first.inbox, What::Watch { look_in });
        Ok(None)
    }

    /// Returns when the next event can come without a request, on the store's clock. It is at most
    /// `bound` away, because looking that often keeps the ledger's clock at full speed.
    fn next_event(&mut self) -> Result<Option<Micros>, S::Error> {
        let due = match self.first_delayed()? {
            // If nothing is delivered, an item that falls due is of no use to a worker.
            Some(item) if self.delivers() => match item.standing {
                Standing::Delayed { due } => Some(due),
                _ => None,
            },
            _ => None,
        };
        let end = self.first_work_by_end()?.and_then(|item| item.work().map(|work| work.ends));
        let end =
            end.map(|end| end.saturating_sub(self.head.clock).min(self.head.bound) + self.now);
        let call = match self.first_called()?.map(|place| place.call) {
            Some(WorkerCall::Since(at)) => Some(at + CALL_WAIT),
            _ => None,
        };
        Ok([due, end, call].into_iter().flatten().min())
    }
}
