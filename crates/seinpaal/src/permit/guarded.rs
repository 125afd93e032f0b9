//! Writing only while the permit is held.

use super::Permit;
use crate::{
    driver,
    guarded::{CommandGroup, GuardedError, GuardedWrite, Value, hash_tag},
};

impl Permit {
    /// Applies a group of commands to the Redis that keeps this permit, in one atomic step. All of
    /// them are applied if the server's ledger has the permit as held at that moment, and otherwise
    /// none. Returns the server's answer to each command.
    ///
    /// Once the lease has run out, or the permit was released or evicted, nothing is written, even
    /// if this program was stopped for any length of time. A group whose answer is lost is sent
    /// again for up to ten seconds and applied once.
    ///
    /// In a cluster all keys must be in the slot of the name: make them with [`key`](Self::key).
    ///
    /// # Cancel safety
    /// Once this has been polled the group may be applied, whether or not it is polled again.
    ///
    /// # Errors
    /// [`GuardedError`]. Only [`Partial`](GuardedError::Partial) and
    /// [`Unknown`](GuardedError::Unknown) mean that something was, or may have been, written.
    ///
    /// # Examples
    /// ```no_run
    /// # futures_executor::block_on(async {
    /// let seinpaal = seinpaal::Seinpaal::connect("redis://localhost").await?;
    /// let permit = seinpaal.semaphore("report").limit(1).acquire().await?;
    /// let (text, runs) = (permit.key("text"), permit.key("runs"));
    /// let answers = permit.guarded(|tx| {
    ///     tx.set(&text, "all is well").incr(&runs);
    /// }).await?;
    /// println!("run {:?}", answers[1].as_int());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn guarded(
        &self,
        describe: impl FnOnce(&mut CommandGroup),
    ) -> Result<Vec<Value>, GuardedError> {
        let mut group = CommandGroup::default();
        describe(&mut group);
        group.check()?;
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| driver::internal("no random numbers", error))?;
        let held = self.parts.iter().map(|part| (part.grant.ticket, part.grant.fence)).collect();
        let name = self.latest().name.clone();
        let write = GuardedWrite { name, held, id: u128::from_le_bytes(id), group };
        let written = self.handle.with_store(move |store| {
            Box::pin(async move {
                match store.guarded(&write) {
                    Some(written) => written.await,
                    None => Err(GuardedError::NotOnThisStore),
                }
            })
        });
        written.await?
    }

    /// Returns the key `{NAME}:suffix`, which in a Redis cluster is in the same slot as the name.
    #[must_use]
    pub fn key(&self, suffix: &str) -> String {
        format!("{}:{suffix}", self.hash_tag())
    }

    /// Returns the hash tag of the name, with its braces. In a Redis cluster, keys that contain it,
    /// with no brace before it, are in the slot of the name.
    #[must_use]
    pub fn hash_tag(&self) -> String {
        hash_tag(self.name())
    }
}
