//! Queues, and an item in Python's hands.

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Waker},
    time::{Duration, UNIX_EPOCH},
};

use pyo3::{
    prelude::*,
    types::{PyBytes, PyTuple},
};
use seinpaal::{Failed, FinishError, PermitState, Push, Pushed, Queue};

use crate::{
    call::Call,
    failure::Failure,
    locked::Locked,
    permit::{Held, Watches, take_out, until_lost, watched},
    whole::{self, Whole},
    want::seconds,
};

/// An item to push: the fields of `seinpaal._want.NewItem`.
#[derive(FromPyObject)]
pub(crate) struct NewItem {
    payload: Vec<u8>,
    priority: Whole,
    delay: Option<f64>,
    group: Option<String>,
    dedup: Option<(String, f64)>,
    deliveries: Option<Whole>,
    labels: Vec<(String, String)>,
}

/// A want for items: the fields of `seinpaal._want.ItemWant`.
#[derive(FromPyObject)]
pub(crate) struct ItemWant {
    ttl: Option<f64>,
    timeout: Option<f64>,
}

macro_rules! described {
    ($request:expr, $want:expr) => {{
        let mut request = $request;
        if let Some(ttl) = $want.ttl {
            request = request.ttl(seconds("a ttl", ttl)?);
        }
        if let Some(timeout) = $want.timeout {
            request = request.timeout(seconds("a timeout", timeout)?);
        }
        request
    }};
}

impl NewItem {
    fn push(self) -> Result<Push, Failure> {
        let mut push = Push::new(self.payload).priority(whole::priority(&self.priority)?);
        if let Some(delay) = self.delay {
            push = push.delay(seconds("a delay", delay)?);
        }
        if let Some(group) = &self.group {
            push = push.group(group);
        }
        if let Some((key, window)) = &self.dedup {
            push = push.dedup(key, seconds("a window", *window)?);
        }
        if let Some(deliveries) = &self.deliveries {
            push = push.deliveries(whole::deliveries(deliveries)?);
        }
        for (key, value) in &self.labels {
            push = push.label(key, value);
        }
        Ok(push)
    }
}

pub(crate) fn push(queue: &Queue, new_item: NewItem) -> PyResult<Call> {
    let pushing = queue.push_all([new_item.push()?]);
    let first = async move {
        pushing.await.into_iter().next().unwrap_or_else(|| unreachable!("one answer each"))
    };
    let convert = |py: Python<'_>, pushed: Pushed| {
        let answer = (pushed.id.0, pushed.is_duplicate).into_pyobject(py)?;
        Ok(answer.into_any().unbind())
    };
    Ok(Call::new(first, convert))
}

impl ItemWant {
    pub(crate) fn pop(&self, queue: &Queue) -> PyResult<Call> {
        let pop = described!(queue.pop(), self);
        Ok(Call::new(async move { pop.await.map(Unseen::new) }, item_object))
    }

    pub(crate) fn try_pop(&self, queue: &Queue) -> PyResult<Call> {
        let convert = |py: Python<'_>, item: Option<Unseen>| {
            item.map_or_else(|| Ok(py.None()), |item| item_object(py, item))
        };
        let pop = described!(queue.try_pop(), self);
        Ok(Call::new(async move { pop.await.map(|item| item.map(Unseen::new)) }, convert))
    }
}

pub(crate) mod steer {
    use pyo3::types::PyDict;
    use seinpaal::QueueSnapshot;

    use super::*;

    pub(crate) fn snapshot(queue: Queue) -> Call {
        let convert = |py: Python<'_>, seen: QueueSnapshot| {
            let fields = PyDict::new(py);
            fields.set_item("limit", seen.limit)?;
            fields.set_item("paused", seen.paused)?;
            fields.set_item("ready", seen.ready)?;
            fields.set_item("delayed", seen.delayed)?;
            fields.set_item("in_work", seen.in_work)?;
            fields.set_item("dead", seen.dead)?;
            fields.set_item("idle", seen.idle)?;
            Ok(fields.into_any().unbind())
        };
        Call::new(async move { queue.snapshot().await }, convert)
    }
}

/// An item that has arrived, and that Python has not seen. If the call is cancelled, or forgotten,
/// before its answer is taken, this delivery does not count.
struct Unseen(Option<seinpaal::Item>);

impl Unseen {
    fn new(item: seinpaal::Item) -> Self {
        Self(Some(item))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if let Some(item) = self.0.take() {
            // The first poll gives it back. Nobody waits for the store to confirm that.
            let giving = pin!(item.give_back(Duration::ZERO));
            let _ = giving.poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

/// An item to work on, until it is ended or collected.
#[pyclass(frozen, module = "seinpaal._native")]
pub(crate) struct Item {
    held: Held<seinpaal::Item>,
    watches: Watches,
    process: u32,
    #[pyo3(get)]
    payload: Py<PyBytes>,
    #[pyo3(get)]
    labels: Py<PyTuple>,
    #[pyo3(get)]
    queue: String,
    #[pyo3(get)]
    id: u64,
    #[pyo3(get)]
    fence: u64,
    #[pyo3(get)]
    attempt: u32,
    #[pyo3(get)]
    deliveries: u32,
    #[pyo3(get)]
    group: Option<String>,
    #[pyo3(get)]
    priority: i8,
    #[pyo3(get)]
    pushed_at: f64,
}

fn item_object(py: Python<'_>, mut unseen: Unseen) -> PyResult<Py<PyAny>> {
    let Some(item) = unseen.0.take() else { unreachable!("only this takes the item out") };
    let pushed_at = item.pushed_at().duration_since(UNIX_EPOCH).unwrap_or_default();
    let item = Item {
        watches: Watches::default(),
        process: std::process::id(),
        payload: PyBytes::new(py, item.payload()).unbind(),
        labels: PyTuple::new(py, item.labels())?.unbind(),
        queue: item.queue().to_owned(),
        id: item.id().0,
        fence: item.fence().0,
        attempt: item.attempt(),
        deliveries: item.deliveries(),
        group: item.group().map(str::to_owned),
        priority: item.priority(),
        pushed_at: pushed_at.as_secs_f64(),
        held: Locked::new(Some(Arc::new(item))),
    };
    Ok(Py::new(py, item)?.into_any())
}

impl Item {
    fn take_out(&self) -> Result<seinpaal::Item, Failure> {
        take_out(&self.held, &self.watches).ok_or_else(|| FinishError::Lost.into())
    }
}

#[pymethods]
impl Item {
    /// Returns whether this delivery goes on at this moment, by the clock.
    #[getter]
    fn is_held(&self) -> bool {
        self.held.with(|held| held.as_deref().is_some_and(seinpaal::Item::is_held))
    }

    /// Returns whether it was ended.
    #[getter]
    fn is_ended(&self) -> bool {
        self.held.with(|held| held.is_none())
    }

    /// How this delivery was lost, if it was.
    #[getter]
    fn lost(&self) -> Option<String> {
        match self.held.with(|held| held.as_deref().map(seinpaal::Item::state))? {
            PermitState::Lost(lost) => Some(lost.to_string()),
            _ => None,
        }
    }

    /// A call that ends when this delivery is lost, with how. It is cancelled when the item is
    /// ended.
    fn watch(&self) -> PyResult<Call> {
        let watch = |item: Arc<seinpaal::Item>| until_lost(async move { item.lost().await });
        let call = watched(&self.held, &self.watches, watch);
        Ok(call.ok_or_else(|| Failure::from(FinishError::Lost))?)
    }

    fn acknowledge(&self, py: Python<'_>) -> PyResult<Call> {
        Ok(Call::silent(py.detach(|| self.take_out())?.acknowledge()))
    }

    fn give_back(&self, py: Python<'_>, delay: f64) -> PyResult<Call> {
        let delay = seconds("a delay", delay)?;
        Ok(Call::silent(py.detach(|| self.take_out())?.give_back(delay)))
    }

    /// Answers whether it is a dead letter now.
    fn fail(&self, py: Python<'_>, reason: String, delay: f64) -> PyResult<Call> {
        let delay: Duration = seconds("a delay", delay)?;
        let item = py.detach(|| self.take_out())?;
        let failing = async move { item.fail(&reason, delay).await };
        let convert = |py: Python<'_>, failed| {
            Ok((failed == Failed::Died).into_pyobject(py)?.to_owned().into_any().unbind())
        };
        Ok(Call::new(failing, convert))
    }
}

impl Drop for Item {
    /// In a forked child the item is the parent's, so it is not dropped, as with a permit.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.watches.end();
        } else {
            std::mem::forget(self.held.get_mut().take());
        }
    }
}
