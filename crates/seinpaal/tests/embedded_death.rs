//! The embedded store when processes die.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{
    thread,
    time::{Duration, Instant},
};

use processes::{Client, client::files, command, unshare};
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn a_client_process() {
    processes::client::run();
}

fn kill(pid: &str) {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[test]
fn a_killed_holder_makes_way_for_the_first_in_line() {
    let dir = tempfile::tempdir().unwrap();
    let (mut holder, mut first, mut second) =
        (Client::start(dir.path()), Client::start(dir.path()), Client::start(dir.path()));
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    assert_eq!(first.order("acquire n 1 2"), "queued");
    assert_eq!(second.order("acquire n 1 3"), "queued");
    holder.kill();
    assert_eq!(first.line(), "news granted");
    first.kill();
    assert_eq!(second.line(), "news granted");
}

/// A waiter also looks once a second on its own, but these waiters do not.
#[test]
fn deaths_are_heard_of_though_nobody_looks() {
    let dir = tempfile::tempdir().unwrap();
    let mut holder = Client::that_is_only_told(dir.path());
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    for ticket in 2..12 {
        let mut waiter = Client::that_is_only_told(dir.path());
        assert_eq!(waiter.order(&format!("acquire n 1 {ticket}")), "queued");
        holder.kill();
        assert_eq!(waiter.line(), "news granted");
        holder = waiter;
    }
}

#[test]
fn a_child_that_ends_before_its_parent_takes_nothing_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mut holder, mut waiter) = (Client::start(dir.path()), Client::start(dir.path()));
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    kill(&holder.order("child"));
    assert_eq!(waiter.order("acquire n 1 2"), "queued");
    assert_eq!(waiter.order("try n 1 3"), "busy");
    holder.kill();
    assert_eq!(waiter.line(), "news granted");
}

#[test]
fn a_newcomer_that_will_not_wait_gets_in_right_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let (mut holder, mut newcomer) = (Client::start(dir.path()), Client::start(dir.path()));
    assert_eq!(holder.order("try n 1 1"), "granted");
    assert_eq!(newcomer.order("try n 1 2"), "busy");
    holder.kill();
    assert_eq!(newcomer.order("try n 1 3"), "granted");
}

#[test]
fn a_killed_waiter_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let (mut holder, mut first, mut second) =
        (Client::start(dir.path()), Client::start(dir.path()), Client::start(dir.path()));
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    assert_eq!(first.order("acquire n 1 2"), "queued");
    assert_eq!(second.order("acquire n 1 3"), "queued");
    first.kill();
    assert_eq!(holder.order("release n 1"), "released");
    assert_eq!(second.line(), "news granted");
}

#[test]
fn a_child_that_inherits_the_descriptor_keeps_the_lease_of_a_killed_holder() {
    let dir = tempfile::tempdir().unwrap();
    let (mut holder, mut waiter) = (Client::start(dir.path()), Client::start(dir.path()));
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    let child = holder.order("child");
    holder.kill();
    assert_eq!(waiter.order("try n 1 2"), "busy");
    assert_eq!(waiter.order("acquire n 1 3"), "queued");
    kill(&child);
    assert_eq!(waiter.line(), "news granted");
}

#[test]
fn a_grandchild_in_the_background_does_not_keep_the_lease() {
    let dir = tempfile::tempdir().unwrap();
    let (mut holder, mut waiter) = (Client::start(dir.path()), Client::start(dir.path()));
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    let pids = holder.order("grandchild");
    let (child, grandchild) = pids.split_once(' ').unwrap();
    assert_eq!(waiter.order("acquire n 1 2"), "queued");
    holder.kill();
    assert_eq!(waiter.order("try n 1 3"), "busy", "the child lives");
    kill(child);
    assert_eq!(waiter.line(), "news granted");
    kill(grandchild); // and it was alive all the time
}

#[test]
fn processes_in_different_pid_namespaces_see_each_other_live_and_die() {
    let dir = tempfile::tempdir().unwrap();
    let apart = unshare(&["--pid", "--fork", "--kill-child", "--mount-proc"]);
    let mut inside = Client::spawn(command(dir.path(), &apart));
    assert_eq!(inside.line(), "open");
    let mut outside = Client::start(dir.path());
    assert_eq!(inside.order("acquire n 1 1"), "granted");
    assert_eq!(outside.order("try n 1 2"), "busy");
    assert_eq!(outside.order("acquire n 1 3"), "queued");
    inside.kill();
    assert_eq!(outside.line(), "news granted");

    let mut inside = Client::spawn(command(dir.path(), &apart));
    assert_eq!(inside.line(), "open");
    assert_eq!(inside.order("try n 1 4"), "busy");
    assert_eq!(inside.order("acquire n 1 5"), "queued");
    outside.kill();
    assert_eq!(inside.line(), "news granted");
}

#[test]
fn a_waiter_notices_the_death_of_a_later_holder() {
    let dir = tempfile::tempdir().unwrap();
    let mut clients = [1, 2, 3].map(|_| Client::start(dir.path()));
    assert_eq!(clients[0].order("acquire n 1 1"), "granted");
    assert_eq!(clients[1].order("acquire n 1 2"), "queued");
    assert_eq!(clients[2].order("acquire n 1 3"), "queued");
    assert_eq!(clients[0].order("release n 1"), "released");
    let [_first, second, third] = clients;
    assert_eq!(second.line(), "news granted");
    second.kill();
    assert_eq!(third.line(), "news granted");
}

#[test]
fn what_the_dead_leave_is_cleared_away_though_nobody_stumbles_over_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut dead = Client::start(dir.path());
    assert_eq!(dead.order("acquire n 1 1"), "granted");
    dead.kill();
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    db.execute("UPDATE boot SET swept = 0", []).unwrap(); // long ago
    let _other = Client::start(dir.path());
    let left = || {
        let leases: i64 =
            db.query_row("SELECT count(*) FROM small_of", [], |row| row.get(0)).unwrap();
        let folders = ["presence", "inbox"];
        (leases, folders.map(|folder| files(&dir.path().join(folder)).len()))
    };
    let begin = Instant::now();
    while left() != (0, [2, 1]) {
        assert!(begin.elapsed() < Duration::from_secs(60), "left over: {:?}", left());
        thread::yield_now();
    }
}

#[test]
fn a_holder_that_is_stopped_the_moment_it_was_handed_its_permit_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut clients = [1, 2, 3].map(|_| Client::start(dir.path()));
    assert_eq!(clients[0].order("acquire n 1 1"), "granted");
    assert_eq!(clients[1].order("hold n"), "queued");
    assert_eq!(clients[0].order("release n 1"), "released");
    assert_eq!(clients[1].line(), "holds and stops");
    let begin = Instant::now();
    while clients[2].order("age n").parse::<u64>().unwrap() < 3 {
        assert!(begin.elapsed() < Duration::from_secs(60), "the store's clock stands still");
    }
    assert_eq!(clients[2].order("try n 1 3"), "busy", "three of its ttls later");
    clients[1].signal(Signal::CONT);
    assert_eq!(clients[1].line(), "held");
}

#[test]
fn a_waiter_that_is_stopped_costs_those_behind_it_no_more_than_its_place_lasted() {
    let dir = tempfile::tempdir().unwrap();
    let mut clients = [1, 2, 3].map(|_| Client::start(dir.path()));
    assert_eq!(clients[0].order("acquire n 1 1"), "granted");
    assert_eq!(clients[1].order("brief n 1 2"), "queued");
    clients[1].signal(Signal::STOP);
    assert_eq!(clients[2].order("acquire n 1 3"), "queued");
    assert_eq!(clients[0].order("release n 1"), "released");
    let begin = Instant::now();
    while clients[2].order("acquire n 1 3") != "granted" {
        assert!(begin.elapsed() < Duration::from_secs(60), "it is waited for");
    }
}

/// The lines of `list` are of one instant, so they may not count a client that is dead at that
/// instant.
#[test]
fn neither_killed_holders_nor_killed_waiters_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut clients: Vec<Client> = (0..6).map(|_| Client::start(dir.path())).collect();
    for (n, client) in clients.iter_mut().enumerate().skip(1) {
        let said = client.order(&format!("acquire n 2 {n}"));
        assert_eq!(said, if n <= 2 { "granted" } else { "queued" });
        assert_eq!(client.order("work q 1"), "works on");
    }
    let mut watcher = clients.remove(0);
    assert_eq!(watcher.order("count n"), "2 3");
    assert_eq!(watcher.order("idle q"), "5");
    clients.drain(2..).for_each(Client::kill);
    assert_eq!(watcher.order("short-line n 2 100"), "queued", "nobody else waits");
    assert_eq!(watcher.order("count n"), "2 1");
    assert_eq!(watcher.order("idle q"), "2");
    clients.into_iter().for_each(Client::kill);
    assert_eq!(watcher.line(), "news granted");
    assert_eq!(watcher.order("count n"), "1 0", "itself");
    assert_eq!(watcher.order("idle q"), "0");
}

/// A list reads most names without writing them. At a name of a dead client it inspects the name as
/// an inspection alone would.
#[test]
fn a_list_counts_no_killed_client_at_an_untouched_name() {
    let dir = tempfile::tempdir().unwrap();
    let [mut dead, mut alive, mut watcher] = [(); 3].map(|()| Client::start(dir.path()));
    assert_eq!(dead.order("acquire n 3 1"), "granted");
    assert_eq!(alive.order("acquire n 3 2"), "granted");
    assert_eq!(watcher.order("count n"), "2 0");
    dead.kill();
    assert_eq!(watcher.order("count n"), "1 0");
}

#[test]
fn the_next_client_clears_away_the_files_of_the_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut dead: Vec<Client> = (0..20).map(|_| Client::start(dir.path())).collect();
    dead.iter_mut().for_each(|client| assert_eq!(client.order("child-on-record"), "on record"));
    let mut alive = Client::start(dir.path());
    dead.into_iter().for_each(Client::kill);
    let mut next = Client::start(dir.path());
    assert_eq!(next.order("try n 9 1"), "granted");
    let left = || ["presence", "inbox"].map(|folder| files(&dir.path().join(folder)).len());
    let begin = Instant::now();
    while left() != [4, 2] {
        assert!(begin.elapsed() < Duration::from_secs(60), "left over: {:?}", left());
        thread::yield_now();
    }
    assert_eq!(alive.order("try n 9 2"), "granted", "the living are left alone");
}
