//! A permit in Python's hands.

use std::sync::{Arc, Weak};

use pyo3::prelude::*;
use seinpaal::{Lost, PermitState, ReleaseError};

use crate::{
    call::{Call, Shared},
    failure::Failure,
    locked::Locked,
};

/// Permits that are held until this object is released or collected.
#[pyclass(frozen, module = "seinpaal._native")]
pub(crate) struct Permit {
    held: Held<seinpaal::Permit>,
    watches: Watches,
    process: u32,
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    ticket: String,
    #[pyo3(get)]
    fence: u64,
    #[pyo3(get)]
    slots: Vec<u32>,
    #[pyo3(get)]
    slot: u32,
    #[pyo3(get)]
    slot_names: Vec<String>,
    #[pyo3(get)]
    permits: u32,
    #[pyo3(get)]
    limit: u32,
}

/// The most slots that are listed. A writer has a million.
const MOST_SLOTS: usize = 1024;

/// The permit, until it is taken out. A watch shares the ownership.
pub(crate) type Held<T> = Locked<Option<Arc<T>>>;

/// The calls that wait for a loss. They share the ownership of the permit, so they are ended before
/// the permit is given up.
#[derive(Default)]
pub(crate) struct Watches(Locked<Vec<Weak<Shared>>>);

impl Watches {
    pub(crate) fn add(&self, call: &Call) {
        let watch = Arc::downgrade(&call.share());
        self.0.with(|watches| {
            watches.retain(|watch| watch.strong_count() > 0);
            watches.push(watch);
        });
    }

    pub(crate) fn end(&self) {
        self.0.take().iter().filter_map(Weak::upgrade).for_each(|watch| watch.stop());
    }
}

/// Ends the watches, and takes out the permit or item, which then has no other owner.
pub(crate) fn take_out<T: Send + Sync>(held: &Held<T>, watches: &Watches) -> Option<T> {
    let held = held.take();
    watches.end();
    held.and_then(Arc::into_inner)
}

/// Makes a watch of a permit or item, under the lock. A thread that takes the permit or item out
/// waits for that lock, and then ends the watch. `None` if it was taken out before.
pub(crate) fn watched<T: Send + Sync>(
    held: &Held<T>,
    watches: &Watches,
    watch: impl FnOnce(Arc<T>) -> Call + Send,
) -> Option<Call> {
    held.with(|held| {
        let call = watch(held.clone()?);
        watches.add(&call);
        Some(call)
    })
}

/// A call that ends at the loss, with its cause. `None`: this program has closed the connection,
/// which gave everything back.
pub(crate) fn until_lost(lost: impl Future<Output = Lost> + Send + 'static) -> Call {
    let how = async move {
        match lost.await {
            Lost::Closed => Ok::<_, Failure>(None),
            lost => Ok(Some(lost.to_string())),
        }
    };
    Call::new(how, |py, how| Ok(how.into_pyobject(py)?.into_any().unbind()))
}

impl Permit {
    pub(crate) fn new(permit: seinpaal::Permit) -> Self {
        Self {
            watches: Watches::default(),
            process: std::process::id(),
            name: permit.name().to_owned(),
            ticket: permit.ticket().to_string(),
            fence: permit.fence().0,
            slots: permit.slots().iter().take(MOST_SLOTS).collect(),
            slot: permit.slot(),
            slot_names: permit.slot_names().into_iter().map(str::to_owned).collect(),
            permits: permit.permits(),
            limit: permit.limit(),
            held: Locked::new(Some(Arc::new(permit))),
        }
    }

    fn with<T: Send>(&self, look: impl FnOnce(&seinpaal::Permit) -> T + Send) -> Option<T> {
        self.held.with(|held| held.as_deref().map(look))
    }

    fn watched(&self, watch: impl FnOnce(Arc<seinpaal::Permit>) -> Call + Send) -> PyResult<Call> {
        let call = watched(&self.held, &self.watches, watch);
        Ok(call.ok_or_else(|| Failure::from(ReleaseError::NotHeld))?)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn loss(&self) -> Option<String> {
        match self.with(seinpaal::Permit::state)? {
            PermitState::Lost(lost) => Some(lost.to_string()),
            _ => None,
        }
    }

    pub(crate) fn take_out(&self) -> Result<seinpaal::Permit, Failure> {
        let gone = || Failure::from(ReleaseError::NotHeld);
        take_out(&self.held, &self.watches).ok_or_else(gone)
    }
}

pub(crate) fn permit_object(py: Python<'_>, permit: seinpaal::Permit) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, Permit::new(permit))?.into_any())
}

#[pymethods]
impl Permit {
    /// Returns whether the permit is held at this moment, by the clock.
    #[getter]
    fn is_held(&self) -> bool {
        self.with(seinpaal::Permit::is_held).unwrap_or(false)
    }

    /// The number of seconds for which the permit is certain to be held. `None`: for as long as
    /// this process lives.
    #[getter]
    fn remaining(&self) -> Option<f64> {
        match self.with(seinpaal::Permit::remaining) {
            Some(remaining) => remaining.map(|remaining| remaining.as_secs_f64()),
            None => Some(0.0),
        }
    }

    /// The cause of the loss, if the permit was lost.
    #[getter]
    fn lost(&self) -> Option<String> {
        self.loss()
    }

    /// A call that ends when the permit is lost, with the cause. The call is cancelled when the
    /// permit is given back.
    fn watch(&self) -> PyResult<Call> {
        self.watched(|permit| until_lost(async move { permit.lost().await }))
    }

    /// Makes a reader of a writer.
    fn downgrade(&self, py: Python<'_>) -> PyResult<Call> {
        let permit = py.detach(|| self.take_out())?;
        Ok(Call::new(permit.downgrade(), permit_object))
    }

    /// Leaves the permit held for the client that has the ticket.
    fn detach(&self, py: Python<'_>) -> PyResult<Call> {
        let permit = py.detach(|| self.take_out())?;
        let convert = |py: Python<'_>, detached: seinpaal::Detached| {
            Ok(detached.ticket.to_string().into_pyobject(py)?.into_any().unbind())
        };
        Ok(Call::new(permit.detach(), convert))
    }
}

impl Drop for Permit {
    /// In a forked child the permit is the parent's, so it is not dropped. A thread that the child
    /// does not have may have held the lock, so this function does not wait for the lock.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.watches.end();
        } else {
            std::mem::forget(self.held.get_mut().take());
        }
    }
}
