//! Looks at everything that is stored, for `doctor`, and finds what each ledger says against
//! itself.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use seinpaal_proto::Name;
use seinpaal_store::{
    Examination, StoreError,
    examination::{found_in_queue, found_in_state, look_at_queue},
};

use super::{RedisStore, decode, layout::StoredName, list::AT_ONCE, script::Script};

/// How many bytes all that is stored of a name may have.
const DUMP_ROOM: usize = 64 << 20;

/// How many queues are looked at at the same time. A look at a queue answers with four lists, where
/// a look at a name answers with one.
const QUEUES_AT_ONCE: usize = AT_ONCE / 4;

impl RedisStore {
    pub(super) async fn examine_ledgers(&self, most: usize) -> Result<Examination, StoreError> {
        let mut examination = Examination::default();
        self.examine_names(most, &mut examination).await?;
        self.examine_queues(most, &mut examination).await?;
        Ok(examination)
    }

    async fn examine_names(
        &self,
        most: usize,
        examination: &mut Examination,
    ) -> Result<(), StoreError> {
        let names = self.stored(&self.keys.pattern(""), most, |key| self.keys.name_of(key)).await?;
        for names in names.chunks(AT_ONCE) {
            let looks = names.iter().map(|name| self.found_at(name));
            for (name, looked) in names.iter().zip(join_all(looks).await) {
                if examination.is_full(most) {
                    return Ok(());
                }
                examination.take(name, None, looked)?;
            }
        }
        Ok(())
    }

    /// What the stored form of a name says against itself.
    async fn found_at(&self, name: &Name) -> Result<Vec<String>, StoreError> {
        let (keys, none) = (self.keys.of(name), <[Vec<u8>; 0]>::default());
        let (answer, _) = self.servers.evaluate(Script::Dump, &keys, &none, DUMP_ROOM).await?;
        let stored = StoredName::of_dump(&answer).ok_or_else(|| decode::unreadable(&answer))?;
        Ok(match stored.state() {
            Ok(state) => found_in_state(&state),
            Err(found) => vec![found],
        })
    }

    async fn examine_queues(
        &self,
        most: usize,
        examination: &mut Examination,
    ) -> Result<(), StoreError> {
        let pattern = self.keys.queue_pattern("");
        let names = self.stored(&pattern, most, |key| self.keys.queue_of(key)).await?;
        for names in names.chunks(QUEUES_AT_ONCE) {
            let looks = names.iter().map(async |name| {
                Ok(found_in_queue(&self.execute_queue(&look_at_queue(name)).await?))
            });
            for (name, looked) in names.iter().zip(join_all(looks).await) {
                if examination.is_full(most) {
                    return Ok(());
                }
                examination.take_queue(name, looked)?;
            }
        }
        Ok(())
    }

    /// The names of keys that match. If there are more than `most`, this gives one more than that,
    /// which shows that the examination is incomplete.
    async fn stored(
        &self,
        pattern: &str,
        most: usize,
        name_of: impl Fn(&str) -> Option<Name>,
    ) -> Result<Vec<Name>, StoreError> {
        let mut names = BTreeSet::new();
        for server in self.servers.scanned().await? {
            let mut cursor = Some(0);
            while let Some(at) = cursor.filter(|_| names.len() <= most) {
                let (next, keys) = server.page(pattern, at).await?;
                names.extend(keys.iter().filter_map(|key| name_of(key)));
                cursor = next;
            }
        }
        Ok(names.into_iter().take(most.saturating_add(1)).collect())
    }
}
