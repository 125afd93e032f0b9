//! Checks that what programs are told is true.

use std::sync::Arc;

use seinpaal_proto::queue::{
    How, ItemId, Reply,
    session::{Answer, DeliveryEnd, Event},
};

use super::{
    broken::Broken,
    world::{Fate, ItemInProgram, ModelRequest, Told, World},
};

impl World {
    pub(super) fn listen(&mut self, who: usize) {
        while let Some(event) = Arc::make_mut(&mut self.clients[who].session).poll_event() {
            let broken = self.hear(who, event);
            self.ghost.broken = self.ghost.broken.or(broken);
        }
    }

    fn hear(&mut self, who: usize, event: Event) -> Option<Broken> {
        let client = &mut self.clients[who];
        match event {
            Event::Delivered { items, .. } => {
                if !client.goes_on && !items.is_empty() {
                    client.pop = None;
                }
                for it in items {
                    let delivery = it.item.delivery;
                    client.held.push(ItemInProgram { delivery, until: it.valid_until });
                    if !self.ghost.handed.insert(delivery.fence.0) {
                        return Some(Broken::Again);
                    }
                }
            }
            Event::Renewed { delivery, valid_until } => {
                let held = client.held.iter_mut().find(|held| held.delivery == delivery);
                held.into_iter().for_each(|held| held.until = valid_until);
            }
            Event::Lost { delivery, .. } => {
                client.held.retain(|held| held.delivery != delivery);
                // The delivery is over, and this frees its place in a want that goes on. The
                // library's workers end the work on what they lost, too.
                let session = Arc::make_mut(&mut client.session);
                session.finish(delivery, How::GiveBack { delay: 0 });
            }
            Event::TimedOut { .. } | Event::Failed { .. } | Event::Drained { .. } => {
                client.pop = None;
                client.pops_left += 1;
            }
            Event::Answer { one_off, answer } => {
                let at = client.one_offs.iter().position(|(id, _)| *id == one_off)?;
                let (_, asked) = client.one_offs.remove(at);
                return self.hear_answer(asked, &answer);
            }
            Event::Finished { delivery, end } => {
                return self.hear_end(delivery.id, delivery.fence.0, end);
            }
            _ => {}
        }
        None
    }

    fn hear_answer(&mut self, asked: ModelRequest, answer: &Answer) -> Option<Broken> {
        let ModelRequest::Push(nth) = asked else { return None };
        let is_excused = self.ghost.was_set_back;
        let tale = &mut self.ghost.items[nth];
        let (told, is_true) = match answer {
            Answer::Done(Reply::Pushed { id }) => {
                (Told::Pushed, tale.id == Some(id.0) || tale.is_doubled)
            }
            Answer::NotDone => (Told::NotPushed, tale.id.is_none() || is_excused),
            _ => (Told::Unknown, true),
        };
        tale.answer = told;
        (!is_true).then_some(Broken::Answer)
    }

    fn hear_end(&self, id: ItemId, fence: u64, end: DeliveryEnd) -> Option<Broken> {
        let tale = self.nth(id).map(|nth| self.ghost.items[nth])?;
        let is_done_by = tale.done_by == Some(fence);
        let is_true = tale.is_doubled
            || match end {
                DeliveryEnd::Acknowledged => tale.fate == Fate::Acknowledged && is_done_by,
                // What the ledger remembers of a batch goes by the store's clock, too, and moves
                // with it.
                DeliveryEnd::Lost => !is_done_by || self.ghost.was_set_back,
                _ => true,
            };
        (!is_true).then_some(Broken::Answer)
    }
}
