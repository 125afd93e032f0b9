//! Certificates and keys, made by OpenSSL, and servers that use them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use seinpaal_rig::{RedisServer, free_port};
use tempfile::TempDir;

const CURVE: &str = "ec_paramgen_curve:prime256v1";

/// An authority, and the certificates that it has signed: `server` for localhost and 127.0.0.1,
/// `other` for another host, `expired` and `client`. The certificate `stranger` signed itself.
pub(super) struct Files(TempDir);

impl Files {
    pub(super) fn make() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.sign_itself("ca", "/CN=authority", "CA:TRUE");
        files.sign_itself("stranger", "/CN=localhost", "CA:FALSE");
        files.sign("server", "DNS:localhost,IP:127.0.0.1", &[]);
        files.sign("other", "DNS:elsewhere.example", &[]);
        files.sign("client", "DNS:client.example", &[]);
        files.sign("expired", "DNS:localhost", &["faketime", "5 days ago"]);
        std::fs::write(files.path("empty.pem"), "nothing\n").unwrap();
        files
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A server with this certificate, and its port.
    pub(super) fn server(
        &self,
        name: &str,
        wants_clients: &str,
        more: &[&str],
    ) -> (RedisServer, u16) {
        let port = free_port();
        let (cert, key) = (self.text(&format!("{name}.pem")), self.text(&format!("{name}.key")));
        let port_text = port.to_string();
        let tls = [
            "--tls-port",
            &port_text,
            "--tls-cert-file",
            &cert,
            "--tls-key-file",
            &key,
            "--tls-ca-cert-file",
            &self.text("ca.pem"),
            "--tls-auth-clients",
            wants_clients,
        ];
        (RedisServer::with(&[&tls[..], more].concat()), port)
    }

    /// The options of a client that trusts the authority, and shows such a certificate.
    pub(super) fn options(&self, client: Option<&str>) -> String {
        let ca = format!("?ca={}", self.text("ca.pem"));
        match client {
            Some(name) => {
                let (cert, key) =
                    (self.text(&format!("{name}.pem")), self.text(&format!("{name}.key")));
                format!("{ca}&cert={cert}&key={key}")
            }
            None => ca,
        }
    }

    fn sign_itself(&self, name: &str, subject: &str, constraints: &str) {
        let (key, cert) = (format!("{name}.key"), format!("{name}.pem"));
        let constraints = format!("basicConstraints=critical,{constraints}");
        run(
            self.0.path(),
            &[
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                CURVE,
                "-nodes",
                "-days",
                "2",
                "-subj",
                subject,
                "-addext",
                "subjectAltName=DNS:localhost",
                "-addext",
                &constraints,
                "-keyout",
                &key,
                "-out",
                &cert,
            ],
        );
    }

    fn sign(&self, name: &str, names: &str, clock: &[&str]) {
        let (key, request, cert, more) = (
            format!("{name}.key"),
            format!("{name}.csr"),
            format!("{name}.pem"),
            format!("{name}.ext"),
        );
        std::fs::write(self.path(&more), format!("subjectAltName={names}\n")).unwrap();
        run(
            self.0.path(),
            &[
                "openssl",
                "req",
                "-newkey",
                "ec",
                "-pkeyopt",
                CURVE,
                "-nodes",
                "-subj",
                "/CN=somebody",
                "-keyout",
                &key,
                "-out",
                &request,
            ],
        );
        let sign = [
            "openssl",
            "x509",
            "-req",
            "-in",
            &request,
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            &more,
            "-out",
            &cert,
        ];
        run(self.0.path(), &[clock, &sign].concat());
    }
}

fn run(directory: &Path, words: &[&str]) {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(directory).output();
    let done =
        done.unwrap_or_else(|error| panic!("{}: {error}: run ./test, which installs it", words[0]));
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}
