//! Checks that each example of fencing succeeds only if the late holder was refused.

use std::{
    env,
    process::{Command, Output},
};

use seinpaal_rig::RedisServer;

/// `cargo test` builds the examples with the tests, beside them. A cargo inside a test would build
/// dependencies anew, because it has another environment.
fn run(example: &str, arguments: &[&str]) -> Output {
    let test = env::current_exe().expect("this test");
    let directory = test.ancestors().nth(2).expect("target/debug").join("examples");
    let output = Command::new(directory.join(example)).args(arguments).output();
    output.unwrap_or_else(|error| panic!("{example}: {error}: cargo build -p seinpaal --examples"))
}

fn refuses_the_late_holder(example: &str, arguments: &[&str]) {
    let output = run(example, arguments);
    assert!(output.status.success(), "{example}: {output:?}");
}

#[test]
fn a_sql_table_refuses_a_late_holder() {
    refuses_the_late_holder("fencing_sql", &[]);
}

#[test]
fn an_http_service_refuses_a_late_holder() {
    refuses_the_late_holder("fencing_http", &[]);
}

#[test]
fn an_object_store_refuses_a_late_holder() {
    refuses_the_late_holder("fencing_object_store", &[]);
}

#[test]
fn a_guarded_write_refuses_a_holder_whose_process_was_stopped() {
    let server = RedisServer::start();
    refuses_the_late_holder("guarded_write", &[&server.socket_url("")]);
}

#[test]
fn a_guarded_write_without_a_server_fails() {
    assert!(!run("guarded_write", &["redis://127.0.0.1:1"]).status.success());
}
