//! The stream that the client library reads and writes.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use redis::ProtocolVersion;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    CommandAnswer, Socket, TransportFault,
    dial::dial,
    frames::{Frames, Stop},
    tls,
    watched::WatchedStream,
};
use crate::error::without_arguments;
use seinpaal_store::url::RedisUrl;

/// The first byte of an alert in TLS.
const TLS_ALERT: u8 = 0x15;

pub(super) struct Stream {
    socket: Box<dyn Socket>,
    hello: LibraryHello,
    frames: Frames,
    watched: Arc<WatchedStream>,
}

/// The library begins RESP3 with a `HELLO` of its own, waits for the answer and drops it. That would
/// be a round trip for nothing, since our greeting has a `HELLO` as well. So the library's goes
/// nowhere, and is answered from here.
#[derive(Clone, Copy, Eq, PartialEq)]
enum LibraryHello {
    Expected,
    Asked,
    Over,
}

impl Stream {
    pub(super) async fn open(
        url: &RedisUrl,
        protocol: ProtocolVersion,
    ) -> CommandAnswer<(Self, Arc<WatchedStream>)> {
        let (socket, watched) = (dial(url).await?, Arc::<WatchedStream>::default());
        let hello =
            if protocol.supports_resp3() { LibraryHello::Expected } else { LibraryHello::Over };
        Ok((Self { socket, hello, frames: Frames::default(), watched: watched.clone() }, watched))
    }

    /// Checks the bytes that came in. An error ends the connection.
    fn look_at(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = self.watched.room();
        match self.frames.advance(bytes, room) {
            Ok(seen) => {
                if let Some(said) = seen.refusal {
                    let said = without_arguments(&said).to_owned();
                    self.watched.note(TransportFault::Refused(said));
                }
                Ok(())
            }
            Err(Stop::TooLarge) => {
                self.watched.note(TransportFault::TooLarge(room));
                Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is too large"))
            }
            Err(Stop::Foreign(TLS_ALERT)) => {
                self.watched.note(TransportFault::SpeaksTls);
                Err(io::Error::new(io::ErrorKind::InvalidData, "TLS where none was wanted"))
            }
            Err(Stop::Foreign(_)) if !self.frames.has_answered() => {
                self.watched.note(TransportFault::SpeaksOther);
                Err(io::Error::new(io::ErrorKind::InvalidData, "another protocol"))
            }
            // The parser refuses these bytes as well.
            Err(Stop::Foreign(_)) => Ok(()),
        }
    }

    fn note(&self, error: &io::Error) {
        tls::said(error).into_iter().for_each(|said| self.watched.note(TransportFault::Tls(said)));
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.hello == LibraryHello::Asked {
            self.hello = LibraryHello::Over;
            buffer.put_slice(b"+OK\r\n");
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        if let Err(error) = ready!(Pin::new(&mut self.socket).poll_read(cx, buffer)) {
            self.note(&error);
            return Poll::Ready(Err(error));
        }
        let (_, new) = buffer.filled().split_at(before);
        Poll::Ready(self.look_at(new))
    }
}

/// Counts a write that comes too late as done. A server that refuses a connection says why and
/// closes it, perhaps before we write. Its message can still be read, and then the reader finds the
/// end.
fn or_too_late<T>(written: Poll<io::Result<T>>, instead: T) -> Poll<io::Result<T>> {
    match written {
        Poll::Ready(Err(error)) if is_closed(&error) => Poll::Ready(Ok(instead)),
        other => other,
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.hello == LibraryHello::Expected {
            self.hello = LibraryHello::Asked;
            return Poll::Ready(Ok(bytes.len()));
        }
        or_too_late(Pin::new(&mut self.socket).poll_write(cx, bytes), bytes.len())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        or_too_late(Pin::new(&mut self.socket).poll_flush(cx), ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
