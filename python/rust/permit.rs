//! A permit in Python's hands.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::pin,
    sync::{Arc, Weak},
    task::Poll,
};

use pyo3::{prelude::*, types::PyBool};
use seinpaal::{Lost, PermitState, ReleaseError};

use crate::{
    call::{Call, Shared},
    failure::Failure,
    locked::Locked,
};

/// Permits that are held, until this is released or collected.
#[pyclass(frozen, module = "seinpaal._native")]
pub(crate) struct Permit {
    held: Held<seinpaal::Permit>,
    watches: Watches,
    asks: Asks,
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

/// A writer has a million slots: this many are listed.
const MOST_SLOTS: usize = 1024;

/// Asks, with their reasons, that have not been fetched. A call that is cancelled after an ask came
/// leaves it here.
type Asks = Arc<Locked<VecDeque<(String, String)>>>;

/// The permit, until it is taken out. A watch of it has a share.
pub(crate) type Held<T> = Locked<Option<Arc<T>>>;

/// The calls that wait for a loss or an ask. They keep what they watch, so they are ended before it
/// is given up.
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

/// Takes out what is shared with nobody once the watches have ended.
pub(crate) fn take_out<T: Send + Sync>(held: &Held<T>, watches: &Watches) -> Option<T> {
    let held = held.take();
    watches.end();
    held.and_then(Arc::into_inner)
}

/// Makes a watch of what is held, under the lock. A thread that takes out what is held waits for
/// that lock, and then ends the watch. `None`: it was taken out before.
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

/// A call that ends when it is lost, with how.
pub(crate) fn until_lost(lost: impl Future<Output = Lost> + Send + 'static) -> Call {
    let lost = async move { Ok::<_, Failure>(lost.await.to_string()) };
    Call::new(lost, |py, lost| Ok(lost.into_pyobject(py)?.into_any().unbind()))
}

/// Waits until somebody has asked, and says so; `false` if the permit is lost first.
async fn is_asked(permit: &seinpaal::Permit, asks: &Asks) -> bool {
    let (mut asked, mut lost) = (pin!(permit.asked()), pin!(permit.lost()));
    poll_fn(|context| {
        if !asks.with(|asks| asks.is_empty()) {
            return Poll::Ready(true);
        }
        if let Poll::Ready(ask) = asked.as_mut().poll(context) {
            let ask = (ask.by().to_owned(), ask.reason().to_owned());
            asks.with(|asks| asks.push_back(ask));
            return Poll::Ready(true);
        }
        lost.as_mut().poll(context).map(|_| false)
    })
    .await
}

impl Permit {
    pub(crate) fn new(permit: seinpaal::Permit) -> Self {
        Self {
            watches: Watches::default(),
            asks: Asks::default(),
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

    fn take_out(&self) -> Result<seinpaal::Permit, Failure> {
        let gone = || Failure::from(ReleaseError::NotHeld);
        take_out(&self.held, &self.watches).ok_or_else(gone)
    }
}

pub(crate) fn permit_object(py: Python<'_>, permit: seinpaal::Permit) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, Permit::new(permit))?.into_any())
}

#[pymethods]
impl Permit {
    /// Returns whether it is held at this moment, by the clock.
    #[getter]
    fn is_held(&self) -> bool {
        self.with(seinpaal::Permit::is_held).unwrap_or(false)
    }

    /// Returns whether it was given back, or handed on.
    #[getter]
    fn is_released(&self) -> bool {
        self.held.with(|held| held.is_none())
    }

    /// How many seconds it is certain to be held for; `None`: for as long as this process lives.
    #[getter]
    fn remaining(&self) -> Option<f64> {
        match self.with(seinpaal::Permit::remaining) {
            Some(remaining) => remaining.map(|remaining| remaining.as_secs_f64()),
            None => Some(0.0),
        }
    }

    /// How it was lost, if it was.
    #[getter]
    fn lost(&self) -> Option<String> {
        match self.with(seinpaal::Permit::state)? {
            PermitState::Lost(lost) => Some(lost.to_string()),
            _ => None,
        }
    }

    /// A call that ends when the permit is lost, with how. It is cancelled when the permit is given
    /// back.
    fn watch(&self) -> PyResult<Call> {
        self.watched(|permit| until_lost(async move { permit.lost().await }))
    }

    /// A call that ends with `True` when somebody has asked that the permit be handed over, and
    /// with `False` if it is lost first. It is cancelled when the permit is given back.
    fn watch_asks(&self) -> PyResult<Call> {
        let asks = Arc::clone(&self.asks);
        self.watched(|permit| {
            let asked = async move { Ok::<_, Failure>(is_asked(&permit, &asks).await) };
            let convert = |py: Python<'_>, asked: bool| {
                Ok(PyBool::new(py, asked).to_owned().into_any().unbind())
            };
            Call::new(asked, convert)
        })
    }

    /// The oldest ask that nobody has fetched: who, and why.
    fn take_ask(&self) -> Option<(String, String)> {
        self.asks.with(VecDeque::pop_front)
    }

    /// Gives it back.
    fn release(&self, py: Python<'_>) -> PyResult<Call> {
        Ok(Call::silent(py.detach(|| self.take_out())?.release()))
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
    /// does not have may have held the lock, so nobody waits for it here.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.watches.end();
        } else {
            std::mem::forget(self.held.get_mut().take());
        }
    }
}
