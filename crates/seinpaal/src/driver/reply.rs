//! The end of a channel at which a caller waits for the answer to its command.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::oneshot::{self, error::TryRecvError};

use super::{Command, Handle};

/// The answer to a command. Its caller reads it itself if it is the only one that waits for one.
pub(crate) struct Answer<T> {
    pub(crate) handle: Arc<Handle>,
    answer: oneshot::Receiver<T>,
    attends: bool,
}

impl<T> Answer<T> {
    pub(crate) fn new(handle: &Arc<Handle>, answer: oneshot::Receiver<T>) -> Self {
        Self { handle: Arc::clone(handle), answer, attends: false }
    }

    /// Sends the command that is answered here.
    pub(crate) fn request(&mut self, command: Command) {
        self.attends = self.handle.request(command);
    }

    /// Takes no answer any more, but for one that has come.
    pub(crate) fn close(&mut self) -> Result<T, TryRecvError> {
        self.answer.close();
        self.answer.try_recv()
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.attends {
            // The channel is not polled here: it would wake this task for what the task does itself.
            self.attends = self.handle.attend(context.waker());
            match self.answer.try_recv() {
                Err(TryRecvError::Empty) if self.attends => return Poll::Pending,
                Err(TryRecvError::Empty) => {}
                answer => {
                    self.attends = false;
                    return Poll::Ready(answer.ok());
                }
            }
        }
        Pin::new(&mut self.answer).poll(context).map(Result::ok)
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        if self.attends {
            self.handle.leave();
        }
    }
}
