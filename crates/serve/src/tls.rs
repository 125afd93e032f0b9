//! TLS: a certificate and its key from files, read again when they change.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

/// How often the files are looked at. Certificates are renewed weeks before they end.
const LOOK: Duration = Duration::from_secs(60);

/// A certificate and its key. Whoever renews them writes the files anew. Within a minute, new
/// connections get the new certificate.
///
/// If new files cannot be used, the certificate that was read before stays in use.
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    read: Mutex<Read>,
}

struct Read {
    acceptor: TlsAcceptor,
    written: [Option<SystemTime>; 2],
    looked: Instant,
}

/// A certificate or key that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum BadCertificate {
    /// The file cannot be read, or has no certificate or key in it.
    Unreadable(PathBuf, String),
    /// They do not go together, or are of a sort that TLS does not know.
    Unusable(String),
}

impl fmt::Display for BadCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => {
                write!(f, "{}: {error}; a PEM file is wanted", path.display())
            }
            Self::Unusable(error) => {
                write!(f, "the certificate and the key cannot be used: {error}")
            }
        }
    }
}

impl std::error::Error for BadCertificate {}

/// Without the key.
impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("chain", &self.chain).finish_non_exhaustive()
    }
}

impl Certificate {
    /// Reads both from PEM files. `chain` has the certificate first, and then those that vouch for
    /// it.
    ///
    /// # Errors
    /// [`BadCertificate`] says which file cannot be used, and why.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, BadCertificate> {
        let read = Read {
            written: [written(chain), written(key)],
            acceptor: acceptor(chain, key)?,
            looked: Instant::now(),
        };
        Ok(Self { chain: chain.to_owned(), key: key.to_owned(), read: Mutex::new(read) })
    }

    /// The acceptor for one connection, of the files as they were within the last minute.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.looked.elapsed() >= LOOK {
            read.looked = Instant::now();
            self.look(&mut read);
        }
        read.acceptor.clone()
    }

    /// Reads the files again if they were written. Files that are being written just now may not go
    /// together yet. They are looked at again the next time.
    fn look(&self, read: &mut Read) {
        let now = [written(&self.chain), written(&self.key)];
        if now == read.written {
            return;
        }
        if let Ok(acceptor) = acceptor(&self.chain, &self.key) {
            // Only now, so that files which cannot be used yet still count as new.
            read.acceptor = acceptor;
            read.written = now;
        }
    }
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

fn acceptor(chain: &Path, key: &Path) -> Result<TlsAcceptor, BadCertificate> {
    let unreadable = |path: &Path, error: &dyn fmt::Display| {
        BadCertificate::Unreadable(path.to_owned(), error.to_string())
    };
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(chain, &error))?;
    if certificates.is_empty() {
        return Err(unreadable(chain, &"there is no certificate in it"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    let unusable = |error: rustls::Error| BadCertificate::Unusable(error.to_string());
    // With the provider named, so that the process need not have a default one.
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(certificates, secret)
        .map_err(unusable)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The other side of a connection, once both agree on its keys.
pub(crate) async fn agree(
    certificate: &Certificate,
    stream: tokio::net::TcpStream,
    longest_wait: Duration,
) -> io::Result<tokio_rustls::server::TlsStream<tokio::net::TcpStream>> {
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    tokio::time::timeout(longest_wait, certificate.acceptor().accept(stream)).await.map_err(late)?
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn write(folder: &Path) {
        let done = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", "key.pem"])
            .args(["-out", "chain.pem"])
            .current_dir(folder)
            .output();
        assert!(done.is_ok_and(|done| done.status.success()));
    }

    #[test]
    fn a_certificate_that_is_written_anew_is_taken_up_and_one_that_cannot_be_used_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
        write(folder.path());
        let certificate = Certificate::read(&chain, &key).unwrap();
        let mut read = certificate.read.lock().unwrap();
        let in_use = |read: &Read| Arc::as_ptr(read.acceptor.config());
        let first = in_use(&read);
        certificate.look(&mut read);
        assert_eq!(in_use(&read), first, "nothing was written");
        fs::write(&key, "half a key").unwrap();
        certificate.look(&mut read);
        assert_eq!(in_use(&read), first, "the key cannot be used");
        write(folder.path());
        certificate.look(&mut read);
        assert_ne!(in_use(&read), first, "both were written");
    }
}
