//! The row of the name in a list, compared with an inspection.

use std::sync::atomic::Ordering;

use seinpaal::store::Store;
use seinpaal_proto::{Reply, execute};

use super::{
    super::{
        history::{Event, FenceSeen, Sketch},
        model::{Guard, Listening, Model},
    },
    Bench, MOST_REPEATED,
};

impl Bench {
    /// Runs a history and lists after each event, a while later. Says where the list is not what an
    /// inspection shows. As in `difference`, a history is run again if a key may have ended unseen.
    pub(in super::super) async fn list_difference(&mut self, history: &[Event]) -> Option<String> {
        let mut difference = self.list_difference_now(history).await;
        for _ in 0..MOST_REPEATED {
            if difference.is_none() || !self.aging.is_unsure {
                break;
            }
            difference = self.list_difference_now(history).await;
        }
        difference
    }

    async fn list_difference_now(&mut self, history: &[Event]) -> Option<String> {
        self.begin_anew().await;
        let guard = self.guard.map(|length| Guard { length, kept: None });
        let mut model = Model { guard, ..Model::default() };
        for (i, event) in history.iter().enumerate() {
            // Another test looks for such differences.
            let _ = self.compare(&mut model, event, None).await;
            let later = [0, 1, 300_000, 1_000_000, 7_000_000][(i * i + history.len()) % 5];
            self.now.fetch_add(later, Ordering::SeqCst);
            if let Some(difference) = self.compare_list(&mut model).await {
                return Some(format!(
                    "after event {i}, {event:?}, {later} µs later:\n{difference}"
                ));
            }
        }
        None
    }

    /// Runs a history and lists only at its end. An inspection would turn the value of
    /// one ticket into rows.
    pub(in super::super) async fn list_difference_at_the_end(
        &mut self,
        history: &[Event],
    ) -> Option<String> {
        self.begin_anew().await;
        let guard = self.guard.map(|length| Guard { length, kept: None });
        let mut model = Model { guard, ..Model::default() };
        for event in history {
            // Another test looks for such differences.
            let _ = self.compare(&mut model, event, None).await;
        }
        self.compare_list(&mut model).await
    }

    async fn compare_list(&mut self, model: &mut Model) -> Option<String> {
        let listed = self.store.list("").await.unwrap();
        self.aging.answered();
        let now = self.now.load(Ordering::SeqCst);
        let batch = model.batch(now, None, FenceSeen::None, &[Sketch::Inspect { rows: 64 }]);
        let guarded_for = model.guard.as_mut().and_then(|guard| guard.left_at(now));
        let mut contacts = Listening(&model.listening, guarded_for);
        let Ok(expected) = execute(&mut model.state, &mut contacts, now, &batch);
        let replies = self.store.call(&batch).await.unwrap().replies;
        self.aging.answered();
        self.look(None).await; // so that the next event does not see what was published here
        if expected.replies.backlog {
            // The list has inspected the name, too, and so the store has ended more than the
            // ledger.
            let Ok(_) = execute(&mut model.state, &mut contacts, now, &batch);
            return None;
        }
        let Some(Reply::Snapshot(mut seen)) = replies.into_iter().next() else { panic!() };
        seen.holders.clear();
        let is_listed = seen.is_worth_listing();
        let expected: Vec<_> = is_listed.then(|| (batch.name.clone(), seen)).into_iter().collect();
        (listed != expected).then(|| format!("list {listed:?}\nnot  {expected:?}"))
    }
}
