//! Writes what a call changes: all of it in one transaction, or nothing.

use std::collections::BTreeSet;

use seinpaal_proto::{
    Inbox, Name, Outcome,
    time::{Micros, micros},
};
use tokio::time::timeout;
use zookeeper_client::{Error, MultiWriteError, MultiWriteResult, MultiWriter};

use super::{error, header::Header, link::SessionLink, replica::NodeChange, write::Hint};
use seinpaal_store::{Certainty, StoreError};

/// The highest fence of the names that were forgotten, and the version of its znode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor {
    pub(super) fence: u64,
    version: i32,
}

/// The end of a transaction.
pub(super) enum TransactionEnd {
    /// Everything was written.
    Yes,
    /// Somebody else wrote first.
    Overtaken,
    /// A client that was to be told is gone.
    Gone(Inbox),
}

/// A batch executed on the copy, and what has to be written for it.
pub(super) struct Executed {
    pub(super) outcome: Outcome,
    pub(super) change: NodeChange,
    pub(super) hints: Vec<Hint>,
    /// The clients that the transaction tells to look. It fails if one of them is gone.
    pub(super) told: BTreeSet<Inbox>,
    /// The clients that were taken to be there, and are not told.
    pub(super) doubtful: BTreeSet<Inbox>,
    /// The highest fence that was given out at the name.
    pub(super) fence: u64,
    /// How long the base may be that is written.
    pub(super) longest_base: usize,
}

impl SessionLink {
    pub(super) async fn floor(&self) -> Result<Floor, StoreError> {
        let path = self.options.paths.floor();
        let (data, stat) = self.get(&path).await?.ok_or_else(|| error::damaged(&path))?;
        let fence = match &data[..] {
            [] => 0,
            data => u64::from_be_bytes(data.try_into().map_err(|_| error::damaged(&path))?),
        };
        Ok(Floor { fence, version: stat.version })
    }

    /// The base that `header` names, if it is still the one.
    pub(super) async fn base(
        &self,
        name: &Name,
        header: &Header,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.get(&self.options.paths.base(name, header.incarnation)).await?;
        let is_it =
            |base: &(Vec<u8>, zookeeper_client::Stat)| base.1.version == header.base_version;
        Ok(found.filter(is_it).map(|(base, _)| base))
    }

    pub(super) async fn write(
        &self,
        name: &Name,
        executed: &Executed,
        floor: Option<Floor>,
    ) -> Result<TransactionEnd, StoreError> {
        check_room(name, executed)?;
        let mut writer = self.client.new_multi_writer();
        let before = match &executed.change {
            NodeChange::Nothing => return Ok(TransactionEnd::Yes),
            NodeChange::Forget { .. } => {
                let floor = match floor {
                    Some(floor) => floor,
                    None => self.floor().await?,
                };
                self.add_forgetting(&mut writer, name, executed, floor)
            }
            change => self.add_change(&mut writer, name, change, floor),
        };
        let before = before.map_err(|error| self.failed(&error))?;
        for inbox in &executed.told {
            let path = self.options.paths.inbox(*inbox);
            let told = writer.add_set_data(&path, name.as_str().as_bytes(), None);
            told.map_err(|error| self.failed(&error))?;
        }
        let told = |index: usize| executed.told.iter().nth(index.checked_sub(before)?);
        self.commit(writer, told).await
    }

    /// Sends the transaction. `told` is the client that the operation of this number tells, if it
    /// tells one.
    async fn commit<'a>(
        &self,
        mut writer: MultiWriter<'_>,
        told: impl Fn(usize) -> Option<&'a Inbox>,
    ) -> Result<TransactionEnd, StoreError> {
        match timeout(self.answer_timeout(), writer.commit()).await {
            Ok(Ok(results)) => {
                self.learn_time(&results);
                Ok(TransactionEnd::Yes)
            }
            Ok(Err(error)) => self.not_written(error, told),
            Err(_) => Err(error::no_answer(&self.options.shown(), Certainty::Unknown)),
        }
    }

    /// The end of a transaction that failed.
    fn not_written<'a>(
        &self,
        error: MultiWriteError,
        told: impl Fn(usize) -> Option<&'a Inbox>,
    ) -> Result<TransactionEnd, StoreError> {
        let (source, told) = match error {
            MultiWriteError::OperationFailed { index, source } => (source, told(index)),
            MultiWriteError::RequestFailed { source } => {
                return Err(error::of_write(&source, &self.options.shown()));
            }
        };
        match (source, told) {
            (Error::NoNode, Some(inbox)) => Ok(TransactionEnd::Gone(*inbox)),
            (Error::NoNode | Error::BadVersion | Error::NodeExists | Error::NotEmpty, _) => {
                Ok(TransactionEnd::Overtaken)
            }
            (error, _) => Err(error::of_write(&error, &self.options.shown())),
        }
    }

    /// Adds a change, and returns how many operations that took.
    fn add_change(
        &self,
        writer: &mut MultiWriter<'_>,
        name: &Name,
        change: &NodeChange,
        floor: Option<Floor>,
    ) -> Result<usize, Error> {
        let path = self.path(name);
        match change {
            NodeChange::Create { header, log } => {
                // This fails if a name was forgotten since the floor was read, and with it perhaps
                // a higher fence.
                let floor = floor.map_or(0, |floor| floor.version);
                writer.add_check_version(&self.options.paths.floor(), floor)?;
                writer.add_create(&path, log, &self.options.persistent())?;
                let base = self.options.paths.base(name, header.incarnation);
                writer.add_create(&base, b"", &self.options.persistent())?;
                Ok(3)
            }
            NodeChange::Append { version, header, log } => {
                // The child of this incarnation, since another one may have come to the same
                // version.
                let base = self.options.paths.base(name, header.incarnation);
                writer.add_check_version(&base, header.base_version)?;
                writer.add_set_data(&path, log, Some(*version))?;
                Ok(2)
            }
            NodeChange::Pack { version, header, log, base } => {
                let child = self.options.paths.base(name, header.incarnation);
                writer.add_set_data(&child, base, Some(header.base_version - 1))?;
                writer.add_set_data(&path, log, Some(*version))?;
                Ok(2)
            }
            NodeChange::Nothing | NodeChange::Forget { .. } => Ok(0),
        }
    }

    /// Adds the end of a name, and raises the floor to its last fence. Returns how many operations
    /// that took.
    fn add_forgetting(
        &self,
        writer: &mut MultiWriter<'_>,
        name: &Name,
        executed: &Executed,
        floor: Floor,
    ) -> Result<usize, Error> {
        let NodeChange::Forget { version, header } = &executed.change else { return Ok(0) };
        let base = self.options.paths.base(name, header.incarnation);
        writer.add_delete(&base, Some(header.base_version))?;
        writer.add_delete(&self.path(name), Some(*version))?;
        // A write to the floor fails every call that makes or ends a name meanwhile, so there is
        // none without need.
        if executed.fence <= floor.fence {
            return Ok(2);
        }
        let fence = executed.fence.to_be_bytes();
        writer.add_set_data(&self.options.paths.floor(), &fence, Some(floor.version))?;
        Ok(3)
    }

    fn learn_time(&self, results: &[MultiWriteResult]) {
        for result in results {
            if let MultiWriteResult::SetData { stat } = result {
                self.time.learn(stat);
            }
        }
    }

    /// How long a session is sure to last after a request was sent in which the leader had a hand:
    /// half of its time-out.
    ///
    /// The leader learns from a follower every half tick which clients it has heard. If the
    /// follower is cut off right after an answer, the last that it told may be of the client's ping
    /// before that, up to 0.15 of the time-out earlier. A tick is half of the shortest time-out at
    /// most, so half a tick is 0.25 of a time-out at most. What is sure is 1 - 0.15 - 0.25 of it,
    /// and half is on the safe side.
    pub(super) fn longest_lease(&self) -> Micros {
        micros(self.client.session_timeout()) / 2
    }
}

/// Refuses a base that is too long.
fn check_room(name: &Name, executed: &Executed) -> Result<(), StoreError> {
    let most = executed.longest_base;
    match &executed.change {
        NodeChange::Pack { base, .. } if base.len() > most => Err(error::full(name.as_str(), most)),
        _ => Ok(()),
    }
}
