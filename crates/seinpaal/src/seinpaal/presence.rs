//! The descriptors by which the embedded store sees that a process is alive, and the record of a
//! child that inherits them.

use std::os::fd::BorrowedFd;

use super::Seinpaal;
use crate::store::{ChildRecord, Presence, StoreError};

impl Seinpaal {
    /// Returns the descriptors by which the embedded store sees that this process is alive. `None`
    /// on other stores. A child can inherit both of them if it clears close-on-exec. After this
    /// process is gone, that child counts as the holder of everything that this connection holds. A
    /// child may close them, but any other use of them also affects its parent.
    #[must_use]
    pub fn presence_fds(&self) -> Option<[BorrowedFd<'_>; 2]> {
        self.handle.store().presence().map(Presence::descriptors)
    }

    /// Returns the descriptors that a child has to close if it was forked and goes on without
    /// `exec`. `None` on stores other than the embedded one. Two of them are
    /// [`presence_fds`](Self::presence_fds), with which the child would keep the permits of this
    /// process alive. With the third this process keeps other clients out while it is inside a
    /// call. If this process is killed at such a moment, a child with an open copy of the third
    /// keeps them out for good. The child closes the descriptors by number, and drops nothing of
    /// this connection.
    #[must_use]
    pub fn fork_fds(&self) -> Option<[BorrowedFd<'_>; 3]> {
        self.handle.store().presence().map(Presence::fork_descriptors)
    }

    /// Puts the child that inherits [`presence_fds`](Self::presence_fds) on record. Once this
    /// process and that child are both gone, the permits are free, even if a grandchild has
    /// inherited the descriptors as well.
    ///
    /// # Errors
    /// If the record could not be written. Then the descriptors alone count.
    pub fn presence_child(&self, pid: u32) -> Result<(), StoreError> {
        self.handle.store().presence().map_or(Ok(()), |sign| sign.record_child(pid))
    }

    /// Prepares the record of [`presence_child`](Self::presence_child) so that the child can sign
    /// it by itself, between fork and exec. The child is then on record before it begins, and the
    /// parent need not learn its process id. `None` means that there is nothing to sign at this
    /// store, or that this process cannot see other processes.
    ///
    /// # Errors
    /// If the record could not be prepared. Then the descriptors alone count.
    pub fn presence_record(&self) -> Result<Option<ChildRecord>, StoreError> {
        self.handle.store().presence().map_or(Ok(None), Presence::child_record)
    }

    /// Takes the child off the record that [`presence_child`](Self::presence_child) made. Call this
    /// before another child is started: while a record stands, a child that is not on it does not
    /// count.
    ///
    /// # Errors
    /// If the record could not be removed. Start no other child then.
    pub fn presence_childless(&self) -> Result<(), StoreError> {
        self.handle.store().presence().map_or(Ok(()), Presence::forget_child)
    }
}
