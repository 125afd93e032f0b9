//! Blocks: the permits of a `with`, and the blocks of a lock that are open.
//!
//! Both ends of a block are here, because Python may run a signal handler before any instruction of
//! a Python function. A handler that raised there would leave the permits held, and renewed, with
//! nobody to give them back.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Poll, Waker},
    thread::{self, ThreadId},
};

use pyo3::{
    gc::{PyTraverseError, PyVisit},
    prelude::*,
    types::{PyDict, PyTuple},
};
use seinpaal::{Release, ReleaseError};

use crate::{call::Call, locked::Locked, permit::Permit};

/// Permits that are held together: the base of `seinpaal.Permit` and `seinpaal.PermitSet`.
#[pyclass(frozen, subclass, module = "seinpaal._native")]
pub(crate) struct Block {
    #[pyo3(get, name = "_connection")]
    connection: Py<PyAny>,
    permits: Vec<Py<Permit>>,
    #[pyo3(get, name = "_process")]
    process: u32,
}

/// The state of permits at the end of their block.
struct End {
    /// The name and the cause of the first loss.
    lost: Option<(String, String)>,
    /// The release of those that had not been given back.
    releasing: Option<Call>,
}

#[pymethods]
impl Block {
    #[new]
    fn new(connection: Py<PyAny>, permits: Vec<Py<Permit>>) -> Self {
        Self { connection, permits, process: std::process::id() }
    }

    #[getter(_natives)]
    fn natives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.permits)
    }

    /// Begins to give back those permits that have not been given back, all at once.
    #[pyo3(name = "_release")]
    fn release(&self, py: Python<'_>) -> Option<Call> {
        self.end(py).releasing
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        if slf.get().process != std::process::id() {
            slf.call_method0("_check")?;
        }
        Ok(slf.clone())
    }

    #[pyo3(signature = (kind, raised, trace, /))]
    fn __exit__<'py>(
        slf: &Bound<'py, Self>,
        kind: &Bound<'py, PyAny>,
        raised: &Bound<'py, PyAny>,
        trace: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (kind, trace);
        let end = slf.get().end(slf.py());
        slf.call_method1("_left", (end.lost, end.releasing, raised))
    }

    #[pyo3(signature = (kind, raised, trace, /))]
    fn __aexit__<'py>(
        slf: &Bound<'py, Self>,
        kind: &Bound<'py, PyAny>,
        raised: &Bound<'py, PyAny>,
        trace: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = trace;
        let end = slf.get().end(slf.py());
        slf.call_method1("_left_async", (end.lost, end.releasing, kind, raised))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.connection)
    }
}

impl Block {
    /// Takes out the permits and sends their release. In a forked child they are the parent's.
    fn end(&self, py: Python<'_>) -> End {
        if self.process != std::process::id() {
            return End { lost: None, releasing: None };
        }
        py.detach(|| {
            let permits = self.permits.iter().map(Py::get);
            let lost = permits.clone().find_map(|one| Some((one.name().to_owned(), one.loss()?)));
            let releases: Vec<_> =
                permits.filter_map(|one| one.take_out().ok()).map(|one| one.release()).collect();
            let releasing = (!releases.is_empty()).then(|| {
                let call = Call::silent(all(releases));
                // The first poll sends them, so nothing that Python does later can stop them.
                call.share().poll(Waker::noop());
                call
            });
            End { lost, releasing }
        })
    }
}

/// Awaits all of them at once, and answers with the first error.
fn all(releases: Vec<Release>) -> impl Future<Output = Result<(), ReleaseError>> {
    let mut left: Vec<Pin<Box<Release>>> = releases.into_iter().map(Box::pin).collect();
    let mut result = Ok(());
    poll_fn(move |context| {
        left.retain_mut(|one| match one.as_mut().poll(context) {
            Poll::Ready(answer) => {
                result = std::mem::replace(&mut result, Ok(())).and(answer);
                false
            }
            Poll::Pending => true,
        });
        if left.is_empty() { Poll::Ready(result.clone()) } else { Poll::Pending }
    })
}

/// The blocks of threads that are open: the base of `seinpaal.Holding`.
#[pyclass(frozen, subclass, module = "seinpaal._native")]
pub(crate) struct Blocks(Locked<Vec<(ThreadId, Py<Block>)>>);

#[pymethods]
impl Blocks {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self(Locked::default())
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let permit = slf.call_method0("_enter")?;
        let entry = (thread::current().id(), permit.cast::<Block>()?.clone().unbind());
        slf.get().0.with(|open| open.push(entry));
        Ok(permit)
    }

    #[pyo3(signature = (kind, raised, trace, /))]
    fn __exit__<'py>(
        slf: &Bound<'py, Self>,
        kind: &Bound<'py, PyAny>,
        raised: &Bound<'py, PyAny>,
        trace: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().pop() {
            Ok(permit) => Block::__exit__(permit.bind(slf.py()), kind, raised, trace),
            Err(open) => slf.call_method1("_left_by_other", (open,)),
        }
    }
}

impl Blocks {
    /// The permit of the block that this thread leaves. A block that another thread has entered is
    /// known if it is the only one; else the answer is the number of open blocks.
    fn pop(&self) -> Result<Py<Block>, usize> {
        let here = thread::current().id();
        self.0.with(|open| {
            let mine = open.iter().rposition(|(thread, _)| *thread == here);
            let only = (open.len() == 1).then_some(0);
            let place = mine.or(only).ok_or(open.len())?;
            Ok(open.remove(place).1)
        })
    }
}
