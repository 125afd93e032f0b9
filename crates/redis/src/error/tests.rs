use super::*;

#[rustfmt::skip]
const EXPECTED: [(&str, StoreErrorKind, Certainty); 31] = [
    ("SEINPAALCORRUPT", Corrupt, NotExecuted), ("SEINPAALTORN", Corrupt, Unknown),
    ("SEINPAALFORMAT", OtherVersion, NotExecuted),
    ("SEINPAALARGUMENT", Internal, NotExecuted), ("SEINPAALFAILED", Internal, NotExecuted),
    ("SEINPAALGUARD", Misconfigured, NotExecuted),
    ("SEINPAALOOM", Full, NotExecuted), ("OOM", Full, NotExecuted), ("MISCONF", Full, NotExecuted),
    ("READONLY", Unreachable, NotExecuted), ("LOADING", Unreachable, NotExecuted),
    ("MASTERDOWN", Unreachable, NotExecuted), ("NOREPLICAS", Unreachable, NotExecuted),
    ("BUSY", Unreachable, NotExecuted), ("CLUSTERDOWN", Unreachable, NotExecuted),
    ("TRYAGAIN", Unreachable, NotExecuted), ("NOSCRIPT", Unreachable, NotExecuted),
    ("MOVED", Misconfigured, NotExecuted), ("ASK", Misconfigured, NotExecuted),
    ("CROSSSLOT", Misconfigured, NotExecuted), ("DENIED", Misconfigured, NotExecuted),
    ("NOPROTO", Misconfigured, NotExecuted), ("NOPERM", Forbidden, NotExecuted),
    ("NOAUTH", Forbidden, NotExecuted), ("WRONGPASS", Forbidden, NotExecuted),
    ("WRONGTYPE", Corrupt, NotExecuted), ("EXECABORT", Internal, NotExecuted),
    ("NOTBUSY", Internal, NotExecuted), ("NOSUB", Internal, NotExecuted),
    ("UNKILLABLE", Unreachable, NotExecuted), ("ERR", Internal, Unknown),
];

#[test]
fn every_code_has_its_kind_and_certainty() {
    assert_eq!(EXPECTED.len(), TABLE.len());
    for (code, kind, certainty) in EXPECTED {
        let error = refused(code, "some detail");
        assert_eq!((error.kind(), error.certainty()), (kind, certainty), "{code}");
    }
}

#[test]
fn an_unknown_code_may_have_been_executed() {
    let error = refused("SOMETHING", "new");
    assert_eq!((error.kind(), error.certainty()), (Internal, Unknown));
}

#[test]
fn an_error_is_one_line_whatever_the_server_says() {
    let error = refused("ERR", "one\r\ntwo\n three\u{1b}[31m");
    assert!(!error.to_string().contains(char::is_control), "{error}");
}

#[test]
fn a_lost_connection_leaves_the_outcome_unknown() {
    let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe)).into();
    let error = of_call(&lost, "redis://a:1/0");
    assert_eq!((error.kind(), error.certainty()), (Unreachable, Unknown));
    assert_eq!(of_connecting(&lost, "redis://a:1/0").certainty(), NotExecuted);
}

/// The text of a server in which the command HELLO was renamed.
const REPEATED: &str =
    "unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'ann' 's3cret' ";

#[test]
fn no_error_repeats_the_password_that_a_server_repeats() {
    let answered = redis::make_extension_error("ERR".to_owned(), Some(REPEATED.to_owned()));
    let said = format!("ERR {REPEATED}");
    let fault = TransportFault::Refused(without_arguments(&said).to_owned());
    for error in [CallError::from(answered), CallError::from(fault)] {
        for told in [of_connecting(&error, "redis://a:1/0"), of_call(&error, "redis://a:1/0")] {
            let shown = format!("{told} {told:?}");
            assert!(shown.contains("unknown command"), "{shown}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }
}

#[test]
fn a_script_that_reads_past_the_end_of_a_value_says_that_it_is_damaged_and_not_where_it_read() {
    let details = "user_script:434: bad argument #2 to 'read' (data string too short)";
    let error = refused("ERR", details);
    assert_eq!((error.kind(), error.certainty()), (Corrupt, NotExecuted));
    assert!(!error.to_string().contains("user_script"), "{error}");
}
