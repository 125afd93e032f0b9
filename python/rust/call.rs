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

/// The result of a call. A thread that has the interpreter makes a Python value of it. It holds no
/// Python object itself.
type Answer = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;
type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A request under way. Dropping or cancelling it leaves nothing held and nothing queued.
#[pyclass(frozen, module = "seinpaal._native")]
pub(crate) struct Call(Arc<Shared>);

pub(crate) struct Shared {
    state: Locked<State>,
    /// The thread or task that waits, to tell it of a cancellation.
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
    /// Polls the call, and says whether it is done. If not, `key` is posted to the mailbox when
    /// another poll is due.
    fn poll(&self, py: Python<'_>, mailbox: &Bound<'_, Mailbox>, key: u64) -> bool {
        let waker = mailbox.get().waker(key);
        py.detach(|| self.0.poll(&waker))
    }

    /// Takes the answer of a call that is done: returns or raises it, once.
    fn take(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // Taken out first, so that no lock is held: making Python objects of the answer may run any
        // code, on any thread.
        let state = self.0.state.replace(State::Over);
        match state {
            State::Done(answer) => answer(py),
            State::Working(_) | State::Over => {
                Err(PyRuntimeError::new_err("this call was cancelled, or its answer taken"))
            }
        }
    }

    /// Ends it. What it was granted goes back in the background, and so does an item that it
    /// popped. A release, or the end of an item, that was polled once is carried out all the same.
    /// Nobody waits for the store to confirm that.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }

    /// Blocks the calling thread, and no other, until the call is done. On the main thread a signal
    /// handler that raises ends the wait, too.
    fn wait(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // An exception ends the request here. This object may live on in the frames of what was
        // raised.
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

/// Python runs signal handlers on the main thread only. Asking runs Python's own code, in which a
/// handler may raise.
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
    fn poll(&self, waker: &Waker) -> bool {
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
        // Dropped under the lock: whoever else stops it meanwhile, to take out what it watches, has
        // to find that this has no share of it any more.
        self.state.with(|state| *state = State::Over);
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }
}

/// The means to wake a thread.
#[derive(Default)]
struct Bell {
    is_rung: Mutex<bool>,
    rings: Condvar,
}

impl Bell {
    /// Waits until the bell is rung, or for this long, and says whether it was rung.
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
