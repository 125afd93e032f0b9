//! TLS with a crypto provider of our own, so that the process need not install a default one.

use std::{io, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{CommandAnswer, Socket, TransportFault};
use seinpaal_store::url::RedisOptions;

/// Wraps a socket in TLS. The server's certificate has to be for this host.
pub(super) async fn wrap(
    socket: TcpStream,
    host: &str,
    options: &RedisOptions,
) -> CommandAnswer<Box<dyn Socket>> {
    let name = ServerName::try_from(host).map_err(|_| TransportFault::Lookup)?.to_owned();
    // The files are read for each connection, so that a new certificate is used from the next
    // connection on.
    let connector = TlsConnector::from(Arc::new(config(options)?));
    let wrapped = connector.connect(name, socket).await.map_err(|error| of_handshake(&error))?;
    Ok(Box::new(wrapped))
}

/// The error of TLS inside an error of the socket, if there is one.
pub(super) fn said(error: &io::Error) -> Option<rustls::Error> {
    error.get_ref()?.downcast_ref::<rustls::Error>().cloned()
}

fn of_handshake(error: &io::Error) -> TransportFault {
    said(error).map_or(TransportFault::Connect(error.kind()), TransportFault::Tls)
}

fn config(options: &RedisOptions) -> Result<ClientConfig, TransportFault> {
    // The provider is named, so that the process need not have a default one.
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TransportFault::Tls)?
        .with_root_certificates(authorities(options)?);
    match (&options.cert, &options.key) {
        (Some(cert), Some(key)) => {
            let (chain, private) = (certificates(cert)?, private_key(key)?);
            let config = builder.with_client_auth_cert(chain, private);
            config
                .map_err(|error| file(key, format!("does not belong to the certificate ({error})")))
        }
        _ => Ok(builder.with_no_client_auth()),
    }
}

/// The authorities to trust. They come from the file that the URL names, or else from
/// `SSL_CERT_FILE` and `SSL_CERT_DIR`, or else from this machine.
fn authorities(options: &RedisOptions) -> Result<RootCertStore, TransportFault> {
    let mut trusted = RootCertStore::empty();
    if let Some(path) = &options.ca {
        for authority in certificates(path)? {
            let added = trusted.add(authority);
            added.map_err(|error| {
                file(path, format!("has a certificate that cannot be read ({error})"))
            })?;
        }
        return Ok(trusted);
    }
    let native = rustls_native_certs::load_native_certs();
    // Certificates of this machine that cannot be read are skipped, because no user has named them.
    trusted.add_parsable_certificates(native.certs);
    if !trusted.is_empty() {
        return Ok(trusted);
    }
    Err(match std::env::var_os("SSL_CERT_FILE") {
        Some(path) => match certificates(Path::new(&path)) {
            Err(fault) => fault,
            Ok(_) => file(Path::new(&path), "has no certificate that can be used".to_owned()),
        },
        None => TransportFault::NoAuthorities,
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TransportFault> {
    let bytes = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(file(path, "has no certificate in PEM form".to_owned())),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TransportFault> {
    let bytes = read(path)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
        file(
            path,
            "has no private key in PEM form (one with a passphrase cannot be used)".to_owned(),
        )
    })
}

fn read(path: &Path) -> Result<Vec<u8>, TransportFault> {
    std::fs::read(path).map_err(|error| file(path, format!("cannot be read ({error})")))
}

fn file(path: &Path, wrong: String) -> TransportFault {
    TransportFault::File { path: path.to_owned(), wrong }
}
