//! Writes the changes of a call, all of them in one transaction or none.

use std::collections::BTreeSet;

use seinpaal_proto::{
    Inbox, Name, Outcome,
    time::{Micros, micros},
};
use tokio::time::timeout;
use zookeeper_client::{Error, MultiWriteError, MultiWriteResult, MultiWriter, Stat};

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
    /// Another client wrote first.
    Overtaken,
    /// The base is not the one that the copy has. Another client has replaced it, or it was deleted
    /// by hand.
    OtherBase,
    /// A client that was to be told is gone.
    Gone(Inbox),
}

/// A batch executed on the copy, and the writes that it needs.
pub(super) struct Executed {
    pub(super) outcome: Outcome,
    pub(super) change: NodeChange,
    pub(super) hints: Vec<Hint>,
    /// The clients that the transaction tells to look. It fails if one of them is gone.
    pub(super) told: BTreeSet<Inbox>,
    /// The clients that were taken for alive and are not told.
    pub(super) doubtful: BTreeSet<Inbox>,
    /// The highest fence that was given out at the name.
    pub(super) fence: u64,
    /// The longest base that may be written.
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

    /// Returns the base that `header` names, if it is still the current one. `stat` is that of the
    /// name when `header` was read there.
    pub(super) async fn base(
        &self,
        name: &Name,
        header: &Header,
        stat: &Stat,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.get(&self.options.paths.base(name, header.incarnation)).await?;
        let is_it = |base: &(Vec<u8>, Stat)| base.1.version == header.base_version;
        let found = found.filter(is_it);
        // A client that replaces or deletes a base writes the name in the same transaction. So if
        // the name is still the same, somebody else has done it.
        if found.is_none()
            && let Some((_, now)) = self.get(&self.path(name)).await?
            && now.mzxid == stat.mzxid
        {
            return Err(error::damaged(&self.path(name)));
        }
        Ok(found.map(|(base, _)| base))
    }

    /// Writes a change and tells the clients concerned, in one transaction.
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
        self.commit(writer, name, &executed.change, told).await
    }

    /// Sends the transaction. `told` returns the client that the operation of a number tells, if it
    /// tells one.
    async fn commit<'a>(
        &self,
        mut writer: MultiWriter<'_>,
        name: &Name,
        change: &NodeChange,
        told: impl Fn(usize) -> Option<&'a Inbox>,
    ) -> Result<TransactionEnd, StoreError> {
        match timeout(self.answer_timeout(), writer.commit()).await {
            Ok(Ok(results)) => {
                self.learn_time(&results);
                Ok(TransactionEnd::Yes)
            }
            Ok(Err(MultiWriteError::OperationFailed { index, source })) => match told(index) {
                Some(inbox) if matches!(source, Error::NoNode) => Ok(TransactionEnd::Gone(*inbox)),
                _ => self.not_written(name, change, index, source),
            },
            Ok(Err(MultiWriteError::RequestFailed { source })) => {
                Err(error::of_write(&source, &self.options.shown()))
            }
            Err(_) => Err(error::no_answer(&self.options.shown(), Certainty::Unknown)),
        }
    }

    /// Returns the end of a transaction of which the operation of this number failed. An end that
    /// no other client can have caused is an error, because every further try would end so, too.
    fn not_written(
        &self,
        name: &Name,
        change: &NodeChange,
        index: usize,
        source: Error,
    ) -> Result<TransactionEnd, StoreError> {
        let is_new = matches!(change, NodeChange::Create { .. });
        match source {
            // The floor or the folder of all names is missing, and no client deletes those.
            Error::NoNode if is_new => Err(error::of_write(&source, &self.options.shown())),
            // The name has a child besides its base.
            Error::NotEmpty => Err(error::damaged(&self.path(name))),
            // The first operation of every other change is about the base.
            Error::NoNode | Error::BadVersion if !is_new && index == 0 => {
                Ok(TransactionEnd::OtherBase)
            }
            Error::NoNode | Error::BadVersion | Error::NodeExists => Ok(TransactionEnd::Overtaken),
            error => Err(error::of_write(&error, &self.options.shown())),
        }
    }

    /// Adds a change, and returns how many operations it took.
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
                // This fails if a name was forgotten since the floor was read, because that name
                // may have had a higher fence.
                let floor = floor.map_or(0, |floor| floor.version);
                writer.add_check_version(&self.options.paths.floor(), floor)?;
                writer.add_create(&path, log, &self.options.persistent())?;
                let base = self.options.paths.base(name, header.incarnation);
                writer.add_create(&base, b"", &self.options.persistent())?;
                Ok(3)
            }
            NodeChange::Append { version, header, log } => {
                // The child of this incarnation is checked, since another incarnation may have come
                // to the same version.
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
    /// it took.
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
        // A write to the floor fails every other call that makes or ends a name meanwhile, so it is
        // made only if it is needed.
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

    /// Returns how long a session is sure to last after a request was sent in which the leader took
    /// part: half of its time-out.
    ///
    /// The leader learns from a follower every half tick which clients the follower has heard. If
    /// the follower is cut off right after an answer, its last report may be of the client's ping
    /// before that, up to 0.15 of the time-out earlier. A tick is half of the shortest time-out at
    /// most, so half a tick is 0.25 of a time-out at most. So 1 - 0.15 - 0.25 of the time-out is
    /// sure, and half is on the safe side.
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
