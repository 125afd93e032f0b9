//! A request under way, which Python waits for on a thread or polls from an event loop.

use std::{
    pin::Pin,
    sync::{Arc, Condvar, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::{failure::Failure, locked::Locked, mailbox::Mailbox};

/// How often the main thread looks for signals while it waits: Ctrl-C ends a wait within this time.
/// The package promises twice as much, because a signal may come just after a look.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// The result of a call, as a function without Python objects. A thread that has the interpreter
/// calls it to make the Python value.
type Answer = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;
type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A request under way. Dropping or cancelling it leaves nothing held and nothing queued.
#[pyclass(frozen, module = "seinpaal._native")]
pub(crate) struct Call(Arc<Shared>);

pub(crate) struct Shared {
    state: Locked<State>,
    /// Wakes the thread or task that waits for the call, so that it learns of a cancellation.
    waiting: Locked<Option<Waker>>,
}

enum State {
    Working(Work),
    Done(Answer),
    Over,
}

impl Call {
    pub(crate) fn new<T, E, F>(
        work: impl Future<Output = Result<T, E>> + Send + 'static,
        convert: F,
    ) -> Self
    where
        T: Send + 'static,
        E: Into<Failure> + Send + 'static,
        F: FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    {
        let work = async move {
            let result = work.await;
            Box::new(move |py: Python<'_>| match result {
                Ok(value) => convert(py, value),
                Err(error) => Err(error.into().raise(py)),
            }) as Answer
        };
        let state = Locked::new(State::Working(Box::pin(work)));
        Self(Arc::new(Shared { state, waiting: Locked::default() }))
    }

    /// A call whose answer is `None`.
    pub(crate) fn silent<T, E>(work: impl Future<Output = Result<T, E>> + Send + 'static) -> Self
    where
        T: Send + 'static,
        E: Into<Failure> + Send + 'static,
    {
        Self::new(work, |py, _| Ok(py.None()))
    }

    pub(crate) fn share(&self) -> Arc<Shared> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl Call {
    /// Polls the call, and returns whether it is done. If not, `key` is posted to the mailbox when
    /// another poll is due.
    fn poll(&self, py: Python<'_>, mailbox: &Bound<'_, Mailbox>, key: u64) -> bool {
        let waker = mailbox.get().waker(key);
        py.detach(|| self.0.poll(&waker))
    }

    /// Takes the answer of a call that is done: returns or raises it, once.
    fn take(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // The state is taken out first, so that no lock is held while Python objects are made,
        // because that may run any code, on any thread.
        let state = self.0.state.replace(State::Over);
        match state {
            State::Done(answer) => answer(py),
            State::Working(_) | State::Over => {
                Err(PyRuntimeError::new_err("this call was cancelled, or its answer taken"))
            }
        }
    }

    /// Ends the call. Permits that it was granted and an item that it popped go back in the
    /// background. A release, or the end of an item, that was polled once is still carried out, but
    /// nobody waits for the store's confirmation.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }

    /// Blocks the calling thread, and no other, until the call is done. On the main thread a signal
    /// handler that raises ends the wait, too.
    fn wait(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // An exception ends the request here, and not when this object is dropped, because the
        // frames of the exception may keep the object alive.
        self.until_done(py).inspect_err(|_| self.cancel(py))?;
        self.take(py)
    }

    /// Blocks the calling thread until the call is done, for at most this many seconds. Returns
    /// whether it is done. No signal ends this wait: a caller that must hear signals waits for
    /// short times, again and again.
    fn wait_for(&self, py: Python<'_>, seconds: f64) -> bool {
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        let until = Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or_default();
        py.detach(|| {
            loop {
                let left = until.saturating_duration_since(Instant::now());
                if self.0.poll(&waker) || left.is_zero() {
                    return self.0.state.with(|state| state.is_over());
                }
                bell.wait(Some(left));
            }
        })
    }
}

impl Call {
    fn until_done(&self, py: Python<'_>) -> PyResult<()> {
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        if py.detach(|| self.0.poll(&waker)) {
            return Ok(());
        }
        let look = is_main_thread(py)?.then_some(LOOK);
        while !py.detach(|| bell.wait(look) && self.0.poll(&waker)) {
            py.check_signals()?;
        }
        Ok(())
    }
}

/// Python runs signal handlers on the main thread only. This question itself runs Python code, in
/// which a handler may raise.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

impl State {
    fn is_over(&self) -> bool {
        !matches!(self, Self::Working(_))
    }
}

impl Shared {
    pub(crate) fn poll(&self, waker: &Waker) -> bool {
        drop(self.waiting.replace(Some(waker.clone())));
        self.state.with(|state| {
            let State::Working(work) = state else { return true };
            match work.as_mut().poll(&mut Context::from_waker(waker)) {
                Poll::Ready(answer) => *state = State::Done(answer),
                Poll::Pending => return false,
            }
            true
        })
    }

    /// Drops the request, and wakes the thread or task that waits for it.
    pub(crate) fn stop(&self) {
        // The work is dropped under the lock. Another thread that stops this call, to take out the
        // permit that it watches, must then be the only owner of the permit.
        self.state.with(|state| *state = State::Over);
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }
}

/// A condition that wakes a thread.
#[derive(Default)]
struct Bell {
    is_rung: Mutex<bool>,
    rings: Condvar,
}

impl Bell {
    /// Waits until the bell is rung, or for this long, and returns whether it was rung.
    fn wait(&self, most: Option<Duration>) -> bool {
        let rung = self.is_rung.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rung = match most {
            Some(most) => {
                let waited = self.rings.wait_timeout_while(rung, most, |rung| !*rung);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => {
                let waited = self.rings.wait_while(rung, |rung| !*rung);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        };
        std::mem::take(&mut rung)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.is_rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.rings.notify_one();
    }
}
