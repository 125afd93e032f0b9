//! Disks that are full or read-only, and clocks that differ.

use std::path::Path;

use super::{
    directory,
    processes::{Client, command, unshare},
};

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
fn a_process_of_another_time_namespace_is_refused_and_ends_no_lease() {
    let dir = directory(0o700);
    let mut client = Client::spawn(command(dir.path(), &[]));
    assert_eq!(client.line(), "open");
    assert_eq!(client.order("acquire n 1 1"), "granted");
    let other = unshare(&["--time", "--boottime", "86400"]);
    let said = Client::spawn(command(dir.path(), &other)).line();
    assert!(said.starts_with("Misconfigured ") && said.contains("time namespace"), "{said}");
    assert_eq!(client.order("acquire n 1 2"), "queued");
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
