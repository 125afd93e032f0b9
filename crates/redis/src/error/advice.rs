//! Advice about a connection that could not be made, or that broke: host, port, files and
//! certificates.

use rustls::{AlertDescription, CertificateError};
use seinpaal_store::StoreErrorKind::{self, Forbidden, Misconfigured, Unreachable};

use super::{one_line, refused};
use crate::transport::TransportFault;

pub(super) const SLOW: &str = "it does not answer: check host, port and firewall, and whether it speaks TLS (rediss://) or not, \
                    or raise connect-timeout";
pub(super) const SPEAKS_OTHER: &str =
    "the program that listens there does not speak the Redis protocol: check host and port";

/// The kind of an error, and what to do about it.
pub(super) struct ErrorAdvice(pub(super) StoreErrorKind, pub(super) String);

pub(super) fn of_fault(fault: &TransportFault) -> ErrorAdvice {
    let say = |kind, advice: &str| ErrorAdvice(kind, advice.to_owned());
    match fault {
        TransportFault::Lookup => say(Unreachable, "the host cannot be found: check its name"),
        TransportFault::Slow => say(Unreachable, SLOW),
        TransportFault::Connect(kind) => of_connect(*kind),
        TransportFault::File { path, wrong } => {
            ErrorAdvice(Misconfigured, one_line(&format!("the file {} {wrong}", path.display())))
        }
        TransportFault::NoAuthorities => say(
            Misconfigured,
            "this machine has no certificates of authorities: install ca-certificates, or name a file with \
             ca=PATH in the store URL or in SSL_CERT_FILE",
        ),
        TransportFault::Tls(error) => of_tls(error),
        TransportFault::SpeaksTls => {
            say(Misconfigured, "the server wants TLS: write rediss:// in the store URL")
        }
        TransportFault::SpeaksOther => say(Misconfigured, SPEAKS_OTHER),
        TransportFault::TooLarge(most) => ErrorAdvice(
            Misconfigured,
            format!(
                "it answered with more than {most} bytes that no request asked for, and was cut off: is it a Redis, \
                 and is there a proxy?"
            ),
        ),
        TransportFault::Refused(said) => {
            let (code, details) = said.split_once(' ').unwrap_or((said, ""));
            let answer = refused(code, details);
            ErrorAdvice(answer.kind(), answer.to_string())
        }
    }
}

fn of_connect(kind: std::io::ErrorKind) -> ErrorAdvice {
    use std::io::ErrorKind as Io;
    let (kind, advice) = match kind {
        Io::ConnectionRefused | Io::NotFound => {
            (Unreachable, "nothing listens there: start the server, or check host and port")
        }
        Io::PermissionDenied => {
            (Forbidden, "this user may not open the socket: change its permissions")
        }
        Io::TimedOut => (Unreachable, SLOW),
        Io::HostUnreachable | Io::NetworkUnreachable => {
            (Unreachable, "there is no way to that host: check the network, or the host")
        }
        Io::UnexpectedEof | Io::ConnectionReset => (
            Unreachable,
            "the connection broke before it was ready: is it a Redis, and with or without TLS (rediss://)?",
        ),
        _ => (Unreachable, "no connection could be made: check host, port and network"),
    };
    ErrorAdvice(kind, advice.to_owned())
}

/// Each cause has words of its own, because the remedies differ.
fn of_tls(error: &rustls::Error) -> ErrorAdvice {
    use rustls::Error as Tls;
    let advice = match error {
        Tls::InvalidCertificate(why) => return of_certificate(why),
        Tls::AlertReceived(alert) => return of_alert(*alert),
        Tls::InvalidMessage(_) => {
            "the server does not speak TLS: write redis:// in the store URL, or check the port"
        }
        _ => {
            return ErrorAdvice(
                Misconfigured,
                one_line(&format!("TLS with it does not work: {error}")),
            );
        }
    };
    ErrorAdvice(Misconfigured, advice.to_owned())
}

fn of_certificate(why: &CertificateError) -> ErrorAdvice {
    let advice = match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired: put a new one on the server, or set this machine's clock"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: set this machine's clock, or the server's certificate"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host: write the name that stands in the certificate into the store URL"
        }
        CertificateError::Revoked => {
            "its certificate has been revoked: put a new one on the server"
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is not trusted, since an authority unknown here signed it: name that authority's file \
             with ca=PATH in the store URL or in SSL_CERT_FILE"
        }
        _ => {
            return ErrorAdvice(
                Misconfigured,
                one_line(&format!("its certificate cannot be used: {why}")),
            );
        }
    };
    ErrorAdvice(Misconfigured, advice.to_owned())
}

/// The advice for a server that ends TLS because of something that it saw of this client.
fn of_alert(alert: AlertDescription) -> ErrorAdvice {
    let advice = match alert {
        AlertDescription::CertificateRequired | AlertDescription::HandshakeFailure => {
            "the server wants a client certificate: add cert=PATH&key=PATH to the store URL"
        }
        AlertDescription::CertificateExpired => {
            "the server refuses our client certificate, which has expired: get a new one"
        }
        AlertDescription::UnknownCA
        | AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked => {
            "the server does not trust our client certificate: use one from an authority that it trusts"
        }
        _ => return ErrorAdvice(Misconfigured, format!("the server ended TLS, saying {alert:?}")),
    };
    ErrorAdvice(Forbidden, advice.to_owned())
}
