//! Users who share a directory.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::Path,
};

use super::{
    DAEMON, NOBODY, directory,
    processes::{Client, command_of_user, public_exe, require_root, through},
};

/// Two users share `dir`: one waits for the other, and gets its permit when the other dies.
fn share(dir: &Path, users: [(u32, u32); 2]) {
    let (_keep, exe) = public_exe();
    let [mut holder, mut waiter] = users.map(|(user, group)| {
        let client = Client::spawn(command_of_user(&exe, dir, user, group));
        assert_eq!(client.line(), "open", "user {user}");
        client
    });
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    assert_eq!(waiter.order("acquire n 1 2"), "queued");
    assert_eq!(holder.order("release n 1"), "released");
    assert_eq!(waiter.line(), "news granted");
    assert_eq!(holder.order("acquire n 1 3"), "queued");
    waiter.kill();
    assert_eq!(holder.line(), "news granted");
}

#[test]
fn two_users_share_a_directory_that_everybody_may_write() {
    require_root();
    for users in [[(NOBODY, NOBODY), (DAEMON, DAEMON)], [(0, 0), (NOBODY, NOBODY)]] {
        let dir = directory(0o777);
        share(dir.path(), users);
    }
}

#[test]
fn two_users_share_a_directory_of_their_group() {
    require_root();
    let dir = directory(0o700);
    chown(dir.path(), Some(0), Some(DAEMON)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o2770)).unwrap();
    share(dir.path(), [(NOBODY, DAEMON), (DAEMON, DAEMON)]);
    let db = fs::metadata(dir.path().join("seinpaal.db")).unwrap();
    assert_eq!(db.permissions().mode() & 0o777, 0o660, "not for others");
}

#[test]
fn two_users_share_a_directory_of_their_group_that_does_not_hand_the_group_on() {
    require_root();
    let dir = directory(0o700);
    chown(dir.path(), Some(0), Some(DAEMON)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o770)).unwrap();
    let (_keep, exe) = public_exe();
    let start = |user: u32| {
        // Each user's own group comes first, and the shared group is one of the other groups.
        let group = format!("--groups={DAEMON}");
        let who = [format!("--reuid={user}"), format!("--regid={user}"), group];
        let words: Vec<&str> =
            ["setpriv"].into_iter().chain(who.iter().map(String::as_str)).collect();
        let client = Client::spawn(through(&exe, dir.path(), &words));
        assert_eq!(client.line(), "open", "user {user}");
        client
    };
    let (mut first, mut second) = (start(1001), start(1002));
    assert_eq!(first.order("acquire n 1 1"), "granted");
    assert_eq!(second.order("acquire n 1 2"), "queued");
    first.kill();
    assert_eq!(second.line(), "news granted");
    let log = fs::metadata(dir.path().join("seinpaal.db-wal")).unwrap();
    assert_eq!((log.gid(), log.mode() & 0o777), (DAEMON, 0o660));
}
