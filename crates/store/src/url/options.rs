//! The options behind the `?` of a URL.

use std::{path::PathBuf, str::FromStr, time::Duration};

use super::{BadStoreUrl, RestartGuard, parse_duration};

/// The options of a Redis store. `None` leaves a choice to the store's default.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct RedisOptions {
    /// `replicated=N`: a grant counts only when this many replicas have it; at least 1.
    pub replicated: Option<u32>,
    /// `restart-guard=on|off|DUR`: a server that lost its memory admits nobody until every lease
    /// that it may have forgotten has ended. `None`: off.
    pub restart_guard: Option<RestartGuard>,
    /// `clock-bound=DUR|off`: by how much the ledger's clock may advance in one operation.
    pub clock_bound: Option<ClockBound>,
    /// `prefix=TEXT`: the beginning of every key.
    pub prefix: Option<String>,
    /// `connect-timeout=DUR`: how long connecting may take; above zero.
    pub connect_timeout: Option<Duration>,
    /// `ca=PATH`: a PEM file with the authorities that are trusted over TLS. `None`: those that
    /// `SSL_CERT_FILE` or `SSL_CERT_DIR` names, else this machine's. Files for TLS are read at
    /// every connect, so a new file is used from the next connect on.
    pub ca: Option<PathBuf>,
    /// `cert=PATH`: a PEM file with our own certificate and the certificates between it and its
    /// authority, for servers that want one; with `key`.
    pub cert: Option<PathBuf>,
    /// `key=PATH`: the PEM file with the private key of `cert`, without a passphrase.
    pub key: Option<PathBuf>,
}

/// By how much the ledger's clock may advance in one operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClockBound {
    /// By any amount: a step of the server's clock ends leases.
    Off,
    /// By at most this time, which is above zero.
    At(Duration),
}

impl RedisOptions {
    pub(super) const KNOWN: [&'static str; 8] = [
        "replicated",
        "restart-guard",
        "clock-bound",
        "prefix",
        "connect-timeout",
        "ca",
        "cert",
        "key",
    ];

    /// Takes the options of a Redis store out of the query of a URL, with or without TLS.
    pub(super) fn take(query: &mut UrlQuery, tls: bool) -> Result<Self, BadStoreUrl> {
        let Files { ca, cert, key } = Files::take(query, tls)?;
        Ok(Self {
            ca,
            cert,
            key,
            replicated: query.take_as("replicated", "a number of replicas, 1 or more", count)?,
            restart_guard: query
                .take_as(
                    "restart-guard",
                    "on, off, or a duration of 125ms to 30h",
                    RestartGuard::parse,
                )?
                .flatten(),
            clock_bound: query.take_clock_bound()?,
            prefix: query.take_prefix()?,
            connect_timeout: query.take_connect_timeout()?,
        })
    }
}

/// The files for TLS.
pub(super) struct Files {
    pub(super) ca: Option<PathBuf>,
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
}

impl Files {
    /// Takes the files for TLS. They need TLS, and a certificate needs its key.
    pub(super) fn take(query: &mut UrlQuery, tls: bool) -> Result<Self, BadStoreUrl> {
        let wanted = if tls { "the path of a file" } else { "for TLS only: write rediss://" };
        let path = |text: &str| (tls && !text.is_empty()).then(|| PathBuf::from(text));
        let mut take = |option| query.take_as(option, wanted, path);
        let files = Self { ca: take("ca")?, cert: take("cert")?, key: take("key")? };
        let wanted = "given together with the other of cert and key";
        match (&files.cert, &files.key) {
            (Some(_), None) => Err(BadStoreUrl::BadOption { option: "cert", wanted }),
            (None, Some(_)) => Err(BadStoreUrl::BadOption { option: "key", wanted }),
            _ => Ok(files),
        }
    }
}

fn count(text: &str) -> Option<u32> {
    number(text).filter(|n| *n > 0)
}

/// Parses digits. Rust's own parser takes a sign before them, too.
pub(super) fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

fn bound(text: &str) -> Option<ClockBound> {
    if text == "off" { Some(ClockBound::Off) } else { above_zero(text).map(ClockBound::At) }
}

fn prefix(text: &str) -> Option<String> {
    (!text.is_empty() && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

pub(super) fn above_zero(text: &str) -> Option<Duration> {
    parse_duration(text).ok().filter(|duration| !duration.is_zero())
}

/// The parameters of a URL, which are taken out one by one. A parameter that is left in the end is
/// unknown.
pub(super) struct UrlQuery(Vec<UrlOption>);

struct UrlOption {
    name: String,
    value: String,
    /// A password stands before it. With an `&` in the password, this is the rest of the password.
    may_be_secret: bool,
}

/// The options that are passwords.
const SECRETS: [&str; 2] = ["pass", "sentinel-pass"];

impl UrlQuery {
    /// Splits `place?a=b&c=d` into the place and its parameters.
    pub(super) fn split(rest: &str) -> Result<(&str, Self), BadStoreUrl> {
        let (before, after) = match rest.find(['?', '#']) {
            Some(at) => (&rest[..at], &rest[at..]),
            None => (rest, ""),
        };
        // If an @ follows, the ? or # stands in a password, and nothing of the URL may be repeated
        // here.
        if after.contains('@') {
            return Err(BadStoreUrl::UnescapedPassword);
        }
        if after.contains('#') {
            return Err(BadStoreUrl::Fragment);
        }
        Ok((before, Self::parse(after.trim_start_matches('?'))?))
    }

    fn parse(text: &str) -> Result<Self, BadStoreUrl> {
        let mut may_be_secret = false;
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let option = UrlOption { name: decode(name)?, value: decode(value)?, may_be_secret };
            may_be_secret |= SECRETS.contains(&option.name.as_str());
            Ok(option)
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn take(&mut self, option: &'static str) -> Result<Option<String>, BadStoreUrl> {
        let Some(at) = self.0.iter().position(|one| one.name == option) else {
            return Ok(None);
        };
        let value = self.0.remove(at).value;
        if self.0.iter().any(|one| one.name == option) {
            return Err(BadStoreUrl::TwiceGiven(option));
        }
        Ok(Some(value))
    }

    pub(super) fn take_as<T>(
        &mut self,
        option: &'static str,
        wanted: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, BadStoreUrl> {
        match self.take(option)? {
            None => Ok(None),
            Some(text) => read(&text).map(Some).ok_or(BadStoreUrl::BadOption { option, wanted }),
        }
    }

    pub(super) fn take_clock_bound(&mut self) -> Result<Option<ClockBound>, BadStoreUrl> {
        self.take_as("clock-bound", "a duration above zero, or off", bound)
    }

    pub(super) fn take_prefix(&mut self) -> Result<Option<String>, BadStoreUrl> {
        self.take_as("prefix", "text without control characters", prefix)
    }

    pub(super) fn take_connect_timeout(&mut self) -> Result<Option<Duration>, BadStoreUrl> {
        self.take_as("connect-timeout", "a duration above zero", above_zero)
    }

    /// Refuses a parameter that was not taken.
    pub(super) fn finish(self, store: &'static str, known: &[&str]) -> Result<(), BadStoreUrl> {
        let Some(unknown) = self.0.into_iter().next() else {
            return Ok(());
        };
        let known = match known {
            [] => "it has none".to_owned(),
            known => format!("known are {}", known.join(", ")),
        };
        if unknown.may_be_secret {
            return Err(BadStoreUrl::OptionAfterPassword(known));
        }
        Err(BadStoreUrl::UnknownOption { option: unknown.name, store, known })
    }
}

/// Decodes `%41` to `A`; `None` if the text cannot be decoded.
pub fn decoded(text: &str) -> Option<String> {
    decode(text).ok()
}

/// Encodes a text so that it is one line and means the same when it is parsed. Control characters
/// and characters with a meaning become `%41` and the like. Other characters stay as they are.
pub(super) fn encode(text: &str, meanings: &[char]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_control() && !meanings.contains(&c) && !matches!(c, '%' | '?' | '#') {
            encoded.push(c);
            continue;
        }
        let mut bytes = [0; 4];
        for byte in c.encode_utf8(&mut bytes).bytes() {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Decodes `%41` to `A`.
pub(super) fn decode(text: &str) -> Result<String, BadStoreUrl> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(BadStoreUrl::BadEscape);
        };
        bytes.push((high << 4 | low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| BadStoreUrl::BadEscape)
}
