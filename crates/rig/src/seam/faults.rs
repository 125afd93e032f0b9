//! A [`Between`] that makes calls go wrong by a script.

use std::future::{Future, pending};

use seinpaal_proto::{Batch, Inbox, Name, Replies, Request, Snapshot, queue};
use seinpaal_store::{
    Certainty, GuardedError, GuardedWrite, News, NewsSender, Store, StoreError, StoreErrorKind,
    Together, Written,
};

use super::{
    Between, SeamResult, in_one_step,
    script::{Fault, Faults, SeamCall},
};

/// Returns whether a batch about permits has this operation in it.
fn is_in(batch: &Batch, operation: SeamCall) -> bool {
    let any = |is_it: fn(&Request) -> bool| batch.requests.iter().any(is_it);
    match operation {
        SeamCall::Any => true,
        SeamCall::Acquire => any(|it| matches!(it, Request::Acquire(_) | Request::Attach(_))),
        SeamCall::Renew => any(|it| matches!(it, Request::Renew(_))),
        SeamCall::Release => any(|it| matches!(it, Request::Release { .. })),
        SeamCall::Cancel => any(|it| matches!(it, Request::Cancel { .. })),
        SeamCall::Configure => any(|it| matches!(it, Request::Configure(_))),
        SeamCall::Inspect => any(|it| matches!(it, Request::Inspect { .. })),
        _ => false,
    }
}

/// Returns whether a batch about a queue has this operation in it.
fn is_in_queue(batch: &queue::Batch, operation: SeamCall) -> bool {
    use queue::Request;
    let any = |is_it: fn(&Request) -> bool| batch.requests.iter().any(is_it);
    match operation {
        SeamCall::Any => true,
        SeamCall::Push => any(|it| matches!(it, Request::Push(_))),
        SeamCall::Pop => any(|it| matches!(it, Request::Pop(_))),
        SeamCall::Finish => any(|it| matches!(it, Request::Finish { .. })),
        SeamCall::RenewDeliveries => any(|it| matches!(it, Request::Renew(_))),
        SeamCall::Configure => any(|it| matches!(it, Request::Configure(_))),
        SeamCall::Inspect => any(|it| matches!(it, Request::Inspect { .. })),
        _ => false,
    }
}

fn is_one_of(operation: SeamCall, wanted: SeamCall) -> bool {
    operation == wanted || operation == SeamCall::Any
}

/// An error of this script. Its text names the script, because the error may show up in the output
/// of a test.
fn error(kind: StoreErrorKind, certainty: Certainty) -> StoreError {
    StoreError::new(kind, certainty, format!("the script of faults says {kind:?}, {certainty:?}"))
}

fn unheard() -> StoreError {
    error(StoreErrorKind::Unreachable, Certainty::Unknown)
}

/// Makes a call go wrong. The request arrives once for each time that `call` is called.
async fn spoil<T, E, F>(
    fault: Option<Fault>,
    call: impl Fn() -> F,
    says: fn(StoreError) -> E,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    match fault {
        None => call().await,
        Some(Fault::LoseRequest) => Err(says(unheard())),
        Some(Fault::LoseAnswer) => call().await.and_then(|_| Err(says(unheard()))),
        Some(Fault::Delay(time)) => {
            tokio::time::sleep(time).await;
            call().await
        }
        Some(Fault::Repeat) => {
            call().await?;
            call().await
        }
        Some(Fault::Fail(kind)) => Err(says(error(kind, Certainty::NotExecuted))),
        Some(Fault::Silence(time)) => {
            let _ = call().await; // the caller never hears this answer
            tokio::time::sleep(time).await;
            Err(says(unheard()))
        }
    }
}

/// Turns an error of the store into the error of a guarded write.
fn unwritten(error: StoreError) -> GuardedError {
    match error.certainty() {
        Certainty::Unknown => GuardedError::Unknown(error),
        Certainty::NotExecuted => GuardedError::from(error),
    }
}

impl Between for Faults {
    fn call<'a>(&'a self, store: &'a dyn Store, batch: &'a Batch) -> SeamResult<'a, Replies> {
        let fault = self.take(|operation| is_in(batch, operation));
        Box::pin(spoil(fault, move || store.call(batch), |error| error))
    }

    /// Declines while a fault is due, because only [`call`](Between::call) can wait.
    fn call_in_place(
        &self,
        store: &dyn Store,
        batch: &Batch,
    ) -> Option<Result<Replies, StoreError>> {
        if self.expects(|operation| is_in(batch, operation)) {
            return None;
        }
        store.call_in_place(batch)
    }

    fn call_together<'a>(
        &'a self,
        store: &'a dyn Store,
        batches: &'a [Batch],
    ) -> SeamResult<'a, Together> {
        let fault = self.take(|operation| is_one_of(operation, SeamCall::Together));
        Box::pin(spoil(fault, move || in_one_step(store, batches), |error| error))
    }

    fn call_queue<'a>(
        &'a self,
        store: &'a dyn Store,
        batch: &'a queue::Batch,
    ) -> SeamResult<'a, queue::Replies> {
        let fault = self.take(|operation| is_in_queue(batch, operation));
        Box::pin(spoil(fault, move || store.call_queue(batch), |error| error))
    }

    fn guarded<'a>(&'a self, store: &'a dyn Store, write: &'a GuardedWrite) -> Option<Written<'a>> {
        let first = store.guarded(write)?;
        let Some(fault) = self.take(|operation| is_one_of(operation, SeamCall::Guarded)) else {
            return Some(first);
        };
        drop(first); // it was not polled, so it has sent nothing
        let again = move || store.guarded(write).unwrap_or_else(|| Box::pin(pending()));
        Some(Box::pin(spoil(Some(fault), again, unwritten)))
    }

    fn list<'a>(
        &'a self,
        store: &'a dyn Store,
        prefix: &'a str,
    ) -> SeamResult<'a, Vec<(Name, Snapshot)>> {
        let fault = self.take(|operation| is_one_of(operation, SeamCall::Inspect));
        Box::pin(spoil(fault, move || store.list(prefix), |error| error))
    }

    fn list_queues<'a>(
        &'a self,
        store: &'a dyn Store,
        prefix: &'a str,
    ) -> SeamResult<'a, Vec<(Name, queue::Snapshot)>> {
        let fault = self.take(|operation| is_one_of(operation, SeamCall::Inspect));
        Box::pin(spoil(fault, move || store.list_queues(prefix), |error| error))
    }

    fn tell(&self, _inbox: Inbox, client: &NewsSender, news: News) {
        let times = match self.take(|operation| operation == SeamCall::News) {
            None => 1,
            Some(Fault::Repeat) => 2,
            Some(Fault::Delay(time)) => {
                let client = client.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(time).await;
                    let _ = client.send(news); // an error means that the client is gone
                });
                return;
            }
            Some(_) => 0,
        };
        for _ in 0..times {
            let _ = client.send(news.clone()); // an error means that the client is gone
        }
    }
}
