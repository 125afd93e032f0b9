//! A connection that may begin while its server is down.

use redis::Value;

use super::{Arc, Connection, ConnectionState, Status, keep};
use crate::{link::ConnectOptions, node::Script};
use seinpaal_store::StoreError;

impl Connection {
    /// Makes a connection that a task of the current runtime opens in its own time, and opens again
    /// whenever it is lost.
    pub(crate) fn begin(options: ConnectOptions) -> Self {
        let shared = Arc::new(ConnectionState::new(options));
        let keeper = tokio::spawn(keep(shared.clone())).abort_handle();
        Self { shared, keeper, _watch: None }
    }

    /// Waits for the first try to connect, and returns how it went.
    pub(crate) async fn first_try(&self) -> Result<(), StoreError> {
        let mut status = self.shared.status.subscribe();
        let tried = status.wait_for(|status| match status {
            Status::Up(..) | Status::Doubted(..) => true,
            Status::Down(outage, _) => outage.attempts > 0,
        });
        match tried.await.as_deref() {
            Ok(Status::Down(outage, _)) => Err(outage.error()),
            _ => Ok(()),
        }
    }

    /// Returns whether there is a link to send over now. If there is none, the next try to make one
    /// comes soon.
    pub(crate) fn is_up(&self) -> bool {
        let is_up = self.shared.status.borrow().link().is_some();
        if !is_up {
            self.shared.hurry.notify_one();
        }
        is_up
    }

    /// Runs the script of a caller, as [`Connection::evaluate`] runs a script of the
    /// ledger.
    pub(crate) async fn evaluate_script(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[String],
        room: usize,
    ) -> Result<Value, StoreError> {
        let mut evalsha = redis::cmd("EVALSHA");
        evalsha.arg(&script.hash).arg(keys.len()).arg(keys).arg(arguments);
        Ok(self.run(&evalsha, &script.source, room).await?.0)
    }
}
