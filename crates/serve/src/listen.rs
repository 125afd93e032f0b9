//! The port: a bounded number of connections, and bounds on how slow they may be.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::Router;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::tls::{self, Certificate};

/// How long a client may take to send its request's head.
const HEADERS: Duration = Duration::from_secs(10);
/// The longest headers of a request, in bytes. A name in an address may have 512 bytes, and three
/// times as many when it is encoded.
const MOST_HEADERS: usize = 32 * 1024;
/// How long sent bytes may stay unacknowledged, in milliseconds. Without this bound, a machine that
/// has gone silent would hold a permit, or a place, until the system gives up after a quarter of an
/// hour.
const SILENCE: u32 = 30_000;
/// The pause after an accept that failed. Accepts fail, for example, while the process has opened
/// all files that it may open.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the router on the port until the future is dropped. Connections beyond `most` wait to be
/// accepted. A connection that takes longer than 10 s for its headers is closed.
/// [`StreamRoom`](crate::StreamRoom) says for how many connections there is room.
///
/// # Cancel safety
/// Dropping the future closes the port. Connections that were accepted go on until they end.
///
/// # If the store is unreachable
/// Pages say since when the store is silent, and the HTTP API answers with an error. Both recover
/// by themselves.
///
/// # Errors
/// None today: an accept that fails is tried again.
///
/// # Examples
/// See `examples/load` of this crate.
pub async fn serve(listener: TcpListener, router: Router, most: usize) -> io::Result<()> {
    accept(listener, router, most, None).await
}

/// Serves the router as [`serve`] does, over TLS.
///
/// # Cancel safety
/// As [`serve`].
///
/// # Errors
/// None today.
///
/// # Examples
/// See [`serve`]. Over TLS, pass a [`Certificate`], too.
pub async fn serve_tls(
    listener: TcpListener,
    router: Router,
    most: usize,
    certificate: Certificate,
) -> io::Result<()> {
    accept(listener, router, most, Some(Arc::new(certificate))).await
}

async fn accept(
    listener: TcpListener,
    router: Router,
    most: usize,
    certificate: Option<Arc<Certificate>>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(most));
    loop {
        // The place is taken before the accept, so that connections beyond the bound wait in the
        // kernel.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        match listener.accept().await {
            Ok((stream, _)) => {
                notice_silence(&stream);
                drop(tokio::spawn(greet(stream, certificate.clone(), router.clone(), place)));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Asks the kernel to end the connection of a dead client soon. If that fails, the kernel ends it
/// later, which is no reason to refuse the client.
#[cfg(target_os = "linux")]
fn notice_silence(stream: &TcpStream) {
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, SILENCE);
}

#[cfg(not(target_os = "linux"))]
fn notice_silence(_stream: &TcpStream) {
    let _ = SILENCE;
}

async fn greet(
    stream: TcpStream,
    certificate: Option<Arc<Certificate>>,
    router: Router,
    _place: OwnedSemaphorePermit,
) {
    let Some(certificate) = certificate else { return answer(stream, router).await };
    // TLS itself tells a client that cannot agree on keys.
    if let Ok(stream) = tls::agree(&certificate, stream, HEADERS).await {
        answer(stream, router).await;
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut router = router.clone();
        async move {
            use tower_service::Service;
            let request = request.map(axum::body::Body::new);
            Ok::<_, Infallible>(router.call(request).await.unwrap_or_else(|never| match never {}))
        }
    });
    // HTTP/2 needs TLS, and most of these ports are on loopback (docs/decisions/serve.md).
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(MOST_HEADERS);
    // A connection that breaks concerns only its client, so the error is dropped.
    drop(server.serve_connection(TokioIo::new(stream), service).await);
}
