//! The embedded store: directories, rights and disks.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
};

use processes::{
    Client, client::files, command, command_of_user, public_exe, require_root, unshare,
};

const DAEMON: u32 = 1;
const NOBODY: u32 = 65534;

#[test]
fn a_client_process() {
    processes::client::run();
}

fn directory(mode: u32) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
    dir
}

fn refusal(dir: &Path) -> String {
    Client::spawn(command(dir, &[])).line()
}

/// Two users share `dir`: one waits for the other, and inherits from it when it dies.
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
fn who_may_not_write_is_refused_and_nothing_is_written() {
    require_root();
    let dir = directory(0o755);
    let (_keep, exe) = public_exe();
    let said = Client::spawn(command_of_user(&exe, dir.path(), NOBODY, NOBODY)).line();
    assert!(
        said.starts_with("Forbidden ") && said.contains(dir.path().to_str().unwrap()),
        "{said}"
    );
    assert_eq!(files(dir.path()), [""; 0]);

    drop(Client::start(dir.path())); // now root's files are there
    let before = files(dir.path());
    let said = Client::spawn(command_of_user(&exe, dir.path(), NOBODY, NOBODY)).line();
    assert!(said.starts_with("Forbidden ") && said.contains("seinpaal.db"), "{said}");
    assert_eq!(files(dir.path()), before);
}

/// Runs a client in a mount namespace in which `mount` has been done.
fn behind(mount: &str, dir: &Path) -> Client {
    let script = format!("{mount}; exec \"$0\" \"$@\"");
    let mut words = unshare(&["--mount", "sh", "-ec"]);
    words.push(&script);
    Client::spawn(command(dir, &words))
}

#[test]
fn a_read_only_file_system_is_refused() {
    let dir = directory(0o700);
    let path = dir.path().to_str().unwrap();
    let said = behind(&format!("mount -t tmpfs -o ro tmpfs {path}"), dir.path()).line();
    assert!(said.starts_with("Forbidden ") && said.contains("read-only"), "{said}");
}

#[test]
fn a_full_disk_is_told_and_goes_on_when_there_is_room_again() {
    let dir = directory(0o700);
    let path = dir.path().to_str().unwrap();
    let mut client = behind(&format!("mount -t tmpfs -o size=2m tmpfs {path}"), dir.path());
    assert_eq!(client.line(), "open");
    assert_eq!(client.order("acquire n 1 1"), "granted");
    assert_eq!(client.order("fill"), "filled");
    let said = client.order("pause n");
    assert!(said.starts_with("Full ") && said.contains("seinpaal.db"), "{said}");
    assert_eq!(client.order("unfill"), "unfilled");
    assert_eq!(client.order("acquire n 1 2"), "queued", "nothing of what failed took effect");
    assert_eq!(client.order("release n 1"), "released");
    assert_eq!(client.line(), "news granted");
}

#[test]
fn a_push_to_a_full_disk_is_told_and_leaves_nothing_of_itself() {
    let dir = directory(0o700);
    let path = dir.path().to_str().unwrap();
    let mut client = behind(&format!("mount -t tmpfs -o size=2m tmpfs {path}"), dir.path());
    assert_eq!(client.line(), "open");
    assert_eq!(client.order("push q a"), "pushed");
    assert_eq!(client.order("fill"), "filled");
    let said = client.order("push-large q");
    assert!(said.starts_with("Full ") && said.contains("seinpaal.db"), "{said}");
    assert_eq!(client.order("unfill"), "unfilled");
    assert_eq!(client.order("work q 5"), "works on a 1");
    assert_eq!(client.order("acknowledge q"), "acknowledged 1");
}

#[test]
fn a_disk_that_is_full_from_the_start_is_told() {
    let dir = directory(0o700);
    let path = dir.path().to_str().unwrap();
    let fill =
        format!("mount -t tmpfs -o size=64k tmpfs {path}; cat /dev/zero 2>&- > {path}/x || :");
    let said = behind(&fill, dir.path()).line();
    assert!(said.starts_with("Full "), "{said}");
}

#[test]
fn what_is_not_a_database_is_refused_and_left_alone() {
    let dir = directory(0o700);
    fs::write(dir.path().join("seinpaal.db"), "my diary, long enough to be mistaken").unwrap();
    let said = refusal(dir.path());
    assert!(said.starts_with("Corrupt ") && said.contains("not a Seinpaal database"), "{said}");
    assert_eq!(files(dir.path()), ["seinpaal.db"]);
}

#[test]
fn the_database_of_another_program_is_refused() {
    let dir = directory(0o700);
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    db.execute_batch("CREATE TABLE diary (line TEXT)").unwrap();
    let said = refusal(dir.path());
    assert!(said.starts_with("Corrupt ") && said.contains("not a Seinpaal database"), "{said}");
}

#[test]
fn a_damaged_database_is_told() {
    let dir = directory(0o700);
    let path = dir.path().join("seinpaal.db");
    drop(Client::start(dir.path()));
    rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[100..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let said = refusal(dir.path());
    assert!(said.starts_with("Corrupt ") && said.contains("damaged"), "{said}");
}

#[test]
fn a_file_in_place_of_the_directory_is_refused() {
    let dir = directory(0o700);
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let said = refusal(&file);
    assert!(said.starts_with("Misconfigured ") && said.contains("not a directory"), "{said}");
}

#[test]
fn a_directory_deleted_in_use_is_told_instead_of_splitting_the_world() {
    let dir = directory(0o700);
    let inner = dir.path().join("inner");
    let mut client = Client::start(&inner);
    fs::remove_dir_all(&inner).unwrap();
    let said = client.order("acquire n 1 1");
    assert!(said.starts_with("Misconfigured ") && said.contains("deleted"), "{said}");
}

#[test]
fn an_orderly_end_leaves_no_sign_of_the_client() {
    let dir = directory(0o700);
    let mut client = Client::start(dir.path());
    assert_eq!(files(&dir.path().join("presence")).len(), 1);
    assert_eq!(client.order("acquire n 1 1"), "granted");
    client.end();
    assert_eq!(files(&dir.path().join("presence")), [""; 0]);
    assert_eq!(Client::start(dir.path()).order("try n 1 2"), "granted");
}
