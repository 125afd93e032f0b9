//! Connects a socket to the address in a URL.

use std::{future::Future, io, net::SocketAddr, pin::Pin};

use futures_util::future::select_ok;
use tokio::net::{TcpStream, UnixStream, lookup_host};

use super::{CommandAnswer, Socket, TransportFault, tls};
use seinpaal_store::url::{RedisAddress, RedisUrl};

/// Connects, over TLS if the URL says so.
pub(super) async fn dial(url: &RedisUrl) -> CommandAnswer<Box<dyn Socket>> {
    match &url.address {
        RedisAddress::Unix(path) => {
            let connected = UnixStream::connect(path).await;
            Ok(Box::new(connected.map_err(|error| TransportFault::Connect(error.kind()))?))
        }
        RedisAddress::Tcp { host, port, tls } => {
            let socket = connect(host, *port).await?;
            if *tls { tls::wrap(socket, host, &url.options).await } else { Ok(Box::new(socket)) }
        }
    }
}

type Try = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// Connects to all addresses of a host at the same time, and takes the first that answers. So an
/// address that leads nowhere causes no delay.
async fn connect(host: &str, port: u16) -> CommandAnswer<TcpStream> {
    let addresses = lookup_host((host, port)).await.map_err(|_| TransportFault::Lookup)?;
    let tries: Vec<Try> = addresses.map(|address| Box::pin(connect_to(address)) as Try).collect();
    if tries.is_empty() {
        return Err(TransportFault::Lookup.into());
    }
    let (socket, _) =
        select_ok(tries).await.map_err(|error| TransportFault::Connect(error.kind()))?;
    Ok(socket)
}

async fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(address).await?;
    // With Nagle's algorithm a small request would wait until the server has confirmed the data
    // sent before.
    socket.set_nodelay(true)?;
    Ok(socket)
}
