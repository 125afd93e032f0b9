//! A connection in Python's hands.

use pyo3::{prelude::*, types::PyDict};
use seinpaal::{PermitSet, Seinpaal, Snapshot, Ticket};

use crate::{
    call::Call,
    failure::Failure,
    permit::permit_object,
    queue::{ItemWant, NewItem, push, steer},
    want::{Want, seconds},
    whole::{self, Whole},
};

/// A connection to a store.
#[pyclass(frozen, module = "seinpaal._native")]
pub(crate) struct Connection(Seinpaal);

/// A call that connects.
#[pyfunction]
pub(crate) fn connect(
    url: &str,
    client: &str,
    ttl: Option<f64>,
    patience: Option<f64>,
) -> PyResult<Call> {
    let mut builder = Seinpaal::builder(url).client(client);
    if let Some(ttl) = ttl {
        builder = builder.ttl(seconds("a ttl", ttl)?);
    }
    if let Some(patience) = patience {
        builder = builder.patience(seconds("patience", patience)?);
    }
    let convert = |py: Python<'_>, seinpaal| Ok(Py::new(py, Connection(seinpaal))?.into_any());
    Ok(Call::new(builder.connect(), convert))
}

#[pymethods]
impl Connection {
    /// The address of the store, without a password.
    #[getter]
    fn address(&self) -> &str {
        self.0.address()
    }

    /// The descriptors that a forked child must close, if the store has any.
    #[getter]
    fn fork_fds(&self) -> Option<[i32; 3]> {
        use std::os::fd::AsRawFd;
        self.0.fork_fds().map(|fds| fds.map(|fd| fd.as_raw_fd()))
    }

    fn acquire(&self, want: Want) -> PyResult<Call> {
        Ok(Call::new(named(want.name().to_owned(), want.acquire(&self.0)?), permit_object))
    }

    fn try_acquire(&self, want: Want) -> PyResult<Call> {
        let convert = |py: Python<'_>, permit: Option<seinpaal::Permit>| {
            permit.map_or_else(|| Ok(py.None()), |permit| permit_object(py, permit))
        };
        Ok(Call::new(named(want.name().to_owned(), want.try_acquire(&self.0)?), convert))
    }

    fn acquire_all(&self, wants: Vec<Want>, timeout: Option<f64>) -> PyResult<Call> {
        let requests: Result<Vec<_>, _> = wants.iter().map(|want| want.acquire(&self.0)).collect();
        let mut all = self.0.acquire_all(requests?);
        if let Some(timeout) = timeout {
            all = all.timeout(seconds("a timeout", timeout)?);
        }
        Ok(Call::new(all, set_object))
    }

    fn try_acquire_all(&self, wants: Vec<Want>) -> PyResult<Call> {
        let requests: Result<Vec<_>, _> =
            wants.iter().map(|want| want.try_acquire(&self.0)).collect();
        let convert = |py: Python<'_>, set: Option<PermitSet>| {
            set.map_or_else(|| Ok(py.None()), |set| set_object(py, set))
        };
        Ok(Call::new(self.0.try_acquire_all(requests?), convert))
    }

    /// Becomes the holder of a ticket.
    fn attach(&self, want: Want, ticket: &str) -> PyResult<Call> {
        let mut attach = want.semaphore(&self.0)?.attach(parsed(ticket)?);
        if let Some(ttl) = want.ttl() {
            attach = attach.ttl(seconds("a ttl", ttl)?);
        }
        Ok(Call::new(named(want.name().to_owned(), attach), permit_object))
    }

    /// Ends the lease of another client, or its place in the queue.
    fn evict(&self, want: Want, ticket: &str) -> PyResult<Call> {
        let (semaphore, ticket) = (want.semaphore(&self.0)?, parsed(ticket)?);
        Ok(Call::silent(async move { semaphore.evict(ticket).await }))
    }

    /// Gives names to the slots, whose number becomes the limit.
    fn name_slots(&self, want: Want, names: Vec<String>) -> PyResult<Call> {
        let semaphore = want.semaphore(&self.0)?;
        Ok(Call::silent(async move { semaphore.name_slots(names).await }))
    }

    fn set_limit(&self, want: Want, limit: Option<Whole>) -> PyResult<Call> {
        let semaphore = want.semaphore(&self.0)?;
        let limit = limit_of(limit)?;
        Ok(Call::silent(async move {
            match limit {
                Some(limit) => semaphore.set_limit(limit).await,
                None => semaphore.unset_limit().await,
            }
        }))
    }

    /// Pauses the name, so that it admits nobody, or, without a reason, lets it admit again.
    fn pause(&self, want: Want, reason: Option<String>) -> PyResult<Call> {
        let semaphore = want.semaphore(&self.0)?;
        Ok(Call::silent(async move {
            match reason {
                Some(reason) => semaphore.pause(&reason).await,
                None => semaphore.resume().await,
            }
        }))
    }

    /// Reads the snapshot of a name.
    fn snapshot(&self, want: Want) -> PyResult<Call> {
        let semaphore = want.semaphore(&self.0)?;
        let read = async move { semaphore.snapshot().await };
        Ok(Call::new(read, snapshot_object))
    }

    fn push(&self, queue: &str, new_item: NewItem) -> PyResult<Call> {
        push(&self.0.queue(queue), new_item)
    }

    fn pop(&self, queue: &str, want: ItemWant) -> PyResult<Call> {
        want.pop(&self.0.queue(queue))
    }

    fn try_pop(&self, queue: &str, want: ItemWant) -> PyResult<Call> {
        want.try_pop(&self.0.queue(queue))
    }

    fn queue_snapshot(&self, queue: &str) -> Call {
        steer::snapshot(self.0.queue(queue))
    }

    fn queue_limit(&self, queue: &str, limit: Option<Whole>) -> PyResult<Call> {
        let (queue, limit) = (self.0.queue(queue), limit_of(limit)?);
        Ok(Call::silent(async move { queue.limit(limit).await }))
    }

    /// Gives back everything and ends every wait.
    fn close(&self) -> Call {
        let seinpaal = self.0.clone();
        Call::silent(async move { seinpaal.close().await })
    }
}

/// The answer to a request, whose errors say which name they are about.
fn named<T, E: Into<Failure>>(
    name: String,
    request: impl IntoFuture<Output = Result<T, E>>,
) -> impl Future<Output = Result<T, Failure>> {
    let request = request.into_future();
    async move { request.await.map_err(|error| error.into().of_name(&name)) }
}

/// Checks a name, and a limit, before anything is made of them.
#[pyfunction]
#[pyo3(signature = (name, limit=None))]
pub(crate) fn check(name: &str, limit: Option<Whole>) -> PyResult<()> {
    seinpaal::Name::new(name).map_err(|error| Failure::new("BadName", error))?;
    limit_of(limit)?;
    Ok(())
}

fn limit_of(limit: Option<Whole>) -> Result<Option<u32>, Failure> {
    limit.map(|limit| whole::limit(&limit)).transpose()
}

fn parsed(ticket: &str) -> Result<Ticket, Failure> {
    ticket.parse().map_err(|error| Failure::new("BadSetting", error))
}

fn set_object(py: Python<'_>, set: PermitSet) -> PyResult<Py<PyAny>> {
    let permits = set.into_permits().into_iter();
    let permits: PyResult<Vec<_>> = permits.map(|permit| permit_object(py, permit)).collect();
    Ok(permits?.into_pyobject(py)?.unbind())
}

fn snapshot_object(py: Python<'_>, seen: Snapshot) -> PyResult<Py<PyAny>> {
    let holders: Vec<_> = seen.holders.iter().map(|it| it.ticket.to_string()).collect();
    let waiters: Vec<_> = seen.waiters.iter().map(|it| it.ticket.to_string()).collect();
    let fields = PyDict::new(py);
    fields.set_item("limit", seen.limit)?;
    fields.set_item("paused", &seen.paused)?;
    fields.set_item("permits_held", seen.permits_held)?;
    fields.set_item("holders_total", seen.holders_total)?;
    fields.set_item("waiting_total", seen.waiting_total)?;
    fields.set_item("holders", holders)?;
    fields.set_item("waiters", waiters)?;
    fields.set_item("slot_names", seen.slot_names.iter().collect::<Vec<_>>())?;
    Ok(fields.into_any().unbind())
}
