//! Access: the host that a request names, its token, and the headers of every answer.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use tokio::time::timeout;

use crate::{
    problem::Problem,
    shared::HandlerState,
    tokens::{Role, is_same},
};

const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    // Not `no-referrer`: browsers would then hide the origin of our own forms, too.
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// How long a request for a page may take, if it is not a stream.
const PAGE_TIMEOUT: Duration = Duration::from_secs(40);

/// The sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) may_act: bool,
    /// Whether programs of theirs may take permits and items.
    pub(crate) may_use: bool,
    /// The name of the visitor, for the audit.
    pub(crate) who: String,
    /// The role in words, for the bar of every page.
    pub(crate) role: String,
}

/// Lets a request in, or says why not. Every answer gets its headers here.
pub(crate) async fn check(
    State(inner): State<Arc<HandlerState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_api =
        path.strip_prefix(&inner.options.base_path).is_some_and(|path| path.starts_with("/v1/"));
    // The API has bounds of its own for each wait, and for each body.
    let is_stream = is_api || path.ends_with("/live");
    let mut response = match visitor(&inner, request.uri(), request.headers()) {
        Err(refused) if is_api => as_problem(&refused),
        Err(refused) => *refused,
        Ok(visitor) => {
            request.extensions_mut().insert(visitor);
            let answer = next.run(request);
            if is_stream { answer.await } else { in_time(answer).await }
        }
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page shows the state of this moment, and may show it to one visitor only.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn in_time(answer: impl Future<Output = Response>) -> Response {
    let slow =
        || (StatusCode::GATEWAY_TIMEOUT, "the store did not answer in time\n").into_response();
    timeout(PAGE_TIMEOUT, answer).await.unwrap_or_else(|_| slow())
}

fn visitor(inner: &HandlerState, uri: &Uri, headers: &HeaderMap) -> Result<Visitor, Box<Response>> {
    if !names_us(uri, headers, &inner.options.hosts) {
        let words = "this address is not one of this server's; `--host NAME` adds one\n";
        return Err(Box::new((StatusCode::MISDIRECTED_REQUEST, words).into_response()));
    }
    let allow = inner.options.allow_actions;
    // Without tokens `seinpaal serve` listens on loopback alone.
    let Some(tokens) = &inner.options.tokens else {
        return Ok(Visitor {
            may_act: allow,
            may_use: inner.options.api,
            who: "somebody on this machine".to_owned(),
            role: role_words(allow).to_owned(),
        });
    };
    let token = presented(headers).and_then(|text| tokens.find(&text));
    let token = token.ok_or_else(|| Box::new(unauthorised()))?;
    // Both are needed: no token allows what the program was started without.
    let may_act = allow && token.role == Role::Operate;
    let may_use = inner.options.api && token.role != Role::Read;
    let role = role_words(may_act);
    let (who, role) = match token.who.as_str() {
        "" => ("a token without a name".to_owned(), role.to_owned()),
        who => (who.to_owned(), format!("{role} as {who}")),
    };
    Ok(Visitor { may_act, may_use, who, role })
}

fn role_words(may_act: bool) -> &'static str {
    if may_act { "Operate" } else { "Read only" }
}

/// The token of a request: a bearer token, or the password for which a browser asks, whatever the
/// user's name is.
fn presented(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = text.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(BASE64_STANDARD.decode(rest.trim()).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

/// The refusal as a problem for programs.
fn as_problem(refused: &Response) -> Response {
    let (title, words) = match refused.status() {
        StatusCode::UNAUTHORIZED => {
            ("unauthorized", "a token is needed: `Authorization: Bearer TOKEN`")
        }
        _ => ("other host", "this address is not one of this server's; `--host NAME` adds one"),
    };
    let mut problem = Problem::new(refused.status(), title, words).into_response();
    if let Some(challenge) = refused.headers().get(header::WWW_AUTHENTICATE) {
        problem.headers_mut().insert(header::WWW_AUTHENTICATE, challenge.clone());
    }
    problem
}

fn unauthorised() -> Response {
    let challenge =
        [(header::WWW_AUTHENTICATE, "Basic realm=\"Seinpaal: the token is the password\"")];
    (StatusCode::UNAUTHORIZED, challenge, "a token is needed\n").into_response()
}

/// Returns whether each host that a request names is one of ours. A request may name several, and
/// one more in its address.
fn names_us(uri: &Uri, headers: &HeaderMap, known: &[String]) -> bool {
    let named = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let mut hosts = named.chain(uri.authority().map(Authority::as_str)).peekable();
    hosts.peek().is_some() && hosts.all(|host| is_known_host(host, known))
}

/// Returns whether this is a host that was meant to be reached. A foreign page whose name has been
/// made to point here names itself.
fn is_known_host(host: &str, known: &[String]) -> bool {
    let name = without_port(host);
    let is_loopback = matches!(name, "localhost" | "[::1]") || is_loopback_v4(name);
    is_loopback || known.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn is_loopback_v4(name: &str) -> bool {
    name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}

/// Returns whether a form was sent by one of our own pages, as far as the browser says where from.
pub(crate) fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let origin = text(header::ORIGIN).map(|origin| {
        let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
        authority.eq_ignore_ascii_case(host)
    });
    let site = headers.get("sec-fetch-site").map(|site| site == "same-origin" || site == "none");
    // A browser that says neither is an old one. The secret in the form is checked as well.
    origin.unwrap_or(true) && site.unwrap_or(true)
}

/// Returns whether this is the secret that our forms carry.
pub(crate) fn is_our_form(inner: &HandlerState, csrf: &str) -> bool {
    is_same(&inner.csrf, csrf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_named_hosts_are_ours() {
        let known = ["locks.example".to_owned()];
        let ours =
            ["localhost", "localhost:7478", "127.0.0.1:7478", "[::1]:7478", "LOCKS.example:80"];
        assert!(ours.into_iter().all(|host| is_known_host(host, &known)));
        let foreign = [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:7478",
            "10.0.0.1",
            "::1",
        ];
        assert!(!foreign.into_iter().any(|host| is_known_host(host, &known)));
    }

    #[test]
    fn a_form_of_another_site_is_not_from_here() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                (name.parse().unwrap_or(header::HOST), HeaderValue::from_static(value))
            });
            pairs.collect::<HeaderMap>()
        };
        let host = ("host", "localhost:7478");
        assert!(is_from_here(&headers(&[host, ("origin", "http://localhost:7478")])));
        assert!(is_from_here(&headers(&[host])));
        assert!(!is_from_here(&headers(&[host, ("origin", "http://evil.example")])));
        assert!(!is_from_here(&headers(&[host, ("origin", "null")])));
        assert!(!is_from_here(&headers(&[host, ("origin", "http://localhost:8000")])));
        assert!(!is_from_here(&headers(&[host, ("sec-fetch-site", "cross-site")])));
    }
}
