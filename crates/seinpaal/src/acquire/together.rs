//! Requests for permits of several names, sent in one step.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use seinpaal_proto::Name;

use super::{Acquire, PROMPT, Tried, TryAcquire, Waited, asking::Asking};
use crate::{
    driver::{Command, Handle, Wanted},
    error::AcquireError,
    permit::Permit,
    seinpaal::Seinpaal,
};

/// What a request that can go together with others says of itself.
pub(crate) trait Named {
    /// The name; empty if it is a bad one.
    fn name(&self) -> &str;
    /// What the request asks for, without waiting in line. Finds what is wrong before anything is sent.
    fn wanted(&self) -> Result<Wanted, AcquireError>;
    /// Whether this connection made the request.
    fn is_of(&self, seinpaal: &Seinpaal) -> bool;
}

macro_rules! named {
    ($request:ty, $timeout:expr) => {
        impl Named for $request {
            fn name(&self) -> &str {
                let options = self.0.description().map(|it| &it.options);
                options.and_then(|options| options.name.as_ref().ok()).map_or("", Name::as_str)
            }

            fn wanted(&self) -> Result<Wanted, AcquireError> {
                let it = self.0.description().unwrap_or_else(|| unreachable!("not polled"));
                let mut wanted = it.options.wanted()?;
                let timeout: fn(_) -> Duration = $timeout;
                wanted.deadline = Some(it.options.seinpaal.handle.clock().after(timeout(it)));
                Ok(wanted)
            }

            fn is_of(&self, seinpaal: &Seinpaal) -> bool {
                let options = self.0.description().map(|it| &it.options);
                options
                    .is_some_and(|options| Arc::ptr_eq(&options.seinpaal.handle, &seinpaal.handle))
            }
        }
    };
}

// Requests in one step do not wait, even if the caller waits afterwards.
named!(Acquire, |it: &Waited| it.timeout.map_or(PROMPT, |timeout| timeout.min(PROMPT)));
named!(TryAcquire, |it: &Tried| it.timeout);

/// Asks for permits of several names in one step. Returns the answer to each request, in their order.
pub(crate) async fn ask_together(
    handle: &Arc<Handle>,
    wanted: Vec<Wanted>,
) -> Vec<Result<Permit, AcquireError>> {
    let (requests, asking): (Vec<_>, Vec<_>) =
        wanted.into_iter().map(|wanted| Asking::new(handle, wanted, None)).unzip();
    handle.send(Command::AcquireTogether(requests));
    join_all(asking).await
}
