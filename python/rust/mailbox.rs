//! The way in which threads of the crate tell Python that a call can go on: a number in a list, and
//! a byte in a socket that an event loop or a thread watches. Posting takes neither the GIL nor the
//! loop.

use std::{
    io::{self, Read, Write},
    os::{fd::AsRawFd, unix::net::UnixStream},
    sync::Arc,
    task::{Wake, Waker},
};

use pyo3::prelude::*;

use crate::locked::Locked;

/// The place where calls report that they can go on.
#[pyclass(frozen, module = "seinpaal._native")]
pub(crate) struct Mailbox {
    inside: Arc<Inside>,
    reader: UnixStream,
}

struct Inside {
    keys: Locked<Vec<u64>>,
    writer: UnixStream,
}

/// The waker of one call.
struct Letter {
    inside: Arc<Inside>,
    key: u64,
}

#[pymethods]
impl Mailbox {
    #[new]
    fn new() -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        let inside = Inside { keys: Locked::default(), writer };
        Ok(Self { inside: Arc::new(inside), reader })
    }

    /// The descriptor that becomes readable when a key is posted.
    fn fileno(&self) -> i32 {
        self.reader.as_raw_fd()
    }

    /// Takes out the posted keys.
    fn drain(&self) -> Vec<u64> {
        // The bytes are read first. A key that is posted before the list is taken is in the list. A
        // key that is posted later finds an empty list, and writes a byte that stays in the socket.
        let mut bytes = [0; 64];
        while matches!((&self.reader).read(&mut bytes), Ok(read) if read > 0) {}
        self.inside.keys.take()
    }

    /// Posts a key by hand.
    fn post(&self, key: u64) {
        self.inside.post(key);
    }
}

impl Mailbox {
    pub(crate) fn waker(&self, key: u64) -> Waker {
        Arc::new(Letter { inside: Arc::clone(&self.inside), key }).into()
    }
}

impl Inside {
    fn post(&self, key: u64) {
        self.keys.with(|keys| {
            keys.push(key);
            if keys.len() == 1 {
                // An error means that the socket is full, and so readable already.
                let _ = (&self.writer).write(&[0]);
            }
        });
    }
}

impl Wake for Letter {
    fn wake(self: Arc<Self>) {
        self.inside.post(self.key);
    }
}
