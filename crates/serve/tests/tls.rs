//! Tests of pages over TLS, with curl as the client.

use std::{fs, path::Path, process::Command};

use seinpaal::Seinpaal;
use seinpaal_serve::{BadCertificate, Certificate, Dashboard, Options, serve_tls};
use tokio::net::{TcpListener, TcpStream};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Makes a self-signed certificate for localhost, and its key.
fn certificate(folder: &Path) -> Outcome {
    let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
    let done = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ])
        .args(["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&chain)
        .output()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_client_that_trusts_the_certificate_gets_a_page_over_tls() -> Outcome {
    let folder = tempfile::tempdir()?;
    certificate(folder.path())?;
    let chain = folder.path().join("chain.pem");
    let own = Certificate::read(&chain, &folder.path().join("key.pem"))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let router = Dashboard::new(Seinpaal::in_memory(), Options::default())?.router();
    tokio::spawn(serve_tls(listener, router, 100, own));
    // A silent client does not delay others.
    let _silent = TcpStream::connect(("127.0.0.1", port)).await?;
    let ask = move |more: Vec<String>| {
        tokio::task::spawn_blocking(move || {
            let address = format!("https://localhost:{port}/healthz");
            Command::new("curl").args(["-sS", "--max-time", "60"]).args(more).arg(address).output()
        })
    };
    let trusted = ask(vec!["--cacert".to_owned(), chain.display().to_string()]).await??;
    assert_eq!(String::from_utf8_lossy(&trusted.stdout), "ok\n", "{trusted:?}");
    assert!(!ask(Vec::new()).await??.status.success(), "nobody vouches for it");
    let plain = Command::new("curl")
        .args(["-sS", "--max-time", "60"])
        .arg(format!("http://localhost:{port}/healthz"))
        .output()?;
    assert!(!plain.status.success(), "{plain:?}");
    Ok(())
}

#[test]
fn a_certificate_that_cannot_be_used_is_told_with_its_file() -> Outcome {
    let folder = tempfile::tempdir()?;
    let other = tempfile::tempdir()?;
    certificate(folder.path())?;
    certificate(other.path())?;
    let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    let missing = Certificate::read(&folder.path().join("none.pem"), &key);
    assert!(
        matches!(missing, Err(BadCertificate::Unreadable(path, _)) if path.ends_with("none.pem"))
    );
    let empty = folder.path().join("empty.pem");
    fs::write(&empty, "")?;
    assert!(matches!(Certificate::read(&empty, &key), Err(BadCertificate::Unreadable(..))));
    assert!(matches!(Certificate::read(&chain, &chain), Err(BadCertificate::Unreadable(..))));
    let foreign = Certificate::read(&chain, &other.path().join("key.pem"));
    assert!(matches!(foreign, Err(BadCertificate::Unusable(_))), "{foreign:?}");
    assert!(Certificate::read(&chain, &key).is_ok());
    Ok(())
}
