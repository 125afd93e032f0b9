//! The embedded store: directories, rights and disks.
#![cfg(all(feature = "embedded", target_os = "linux"))]

#[path = "embedded_directory/disks.rs"]
mod disks;
mod processes;
#[path = "embedded_directory/users.rs"]
mod users;

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink},
    path::Path,
};

use processes::{Client, client::files, command, command_of_user, public_exe, require_root};

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

/// The permissions of every file that a client makes.
fn modes(dir: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for folder in ["", "presence", "inbox"] {
        for entry in fs::read_dir(dir.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let name = if folder.is_empty() { name } else { folder[..1].to_owned() + "/" };
            found.push((name, entry.metadata().unwrap().mode() & 0o7777));
        }
    }
    found.sort();
    found
}

#[test]
fn new_files_have_the_rights_of_the_directory_and_no_more() {
    let expect = |file: u32, folder: u32| {
        let files = ["gate", "i/", "p/", "seinpaal.db", "seinpaal.db-shm", "seinpaal.db-wal"];
        let mut modes: Vec<_> = files.map(|name| (name.to_owned(), file)).into();
        modes.push(("p/".to_owned(), file & !0o022)); // others only read the sign of life
        modes.extend(["inbox", "presence"].map(|name| (name.to_owned(), folder)));
        modes.sort();
        modes
    };
    for (mode, file, folder) in [
        (0o700, 0o600, 0o700),
        (0o755, 0o600, 0o700),
        (0o2770, 0o660, 0o2770),
        (0o1777, 0o666, 0o3777),
    ] {
        let dir = directory(mode);
        let _client = Client::start(dir.path());
        assert_eq!(modes(dir.path()), expect(file, folder), "{mode:o}");
    }
}

#[test]
fn files_that_an_older_version_left_open_to_all_are_closed() {
    let dir = directory(0o700);
    Client::start(dir.path()).end();
    for (name, mode) in [("inbox", 0o777), ("presence", 0o777), ("gate", 0o666)] {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let _client = Client::start(dir.path());
    for (name, mode) in [("inbox", 0o700), ("presence", 0o700), ("gate", 0o600)] {
        assert_eq!(fs::metadata(dir.path().join(name)).unwrap().mode() & 0o7777, mode, "{name}");
    }
}

#[test]
fn no_symbolic_link_in_the_directory_is_followed() {
    for name in ["seinpaal.db", "seinpaal.db-wal", "gate", "inbox", "presence"] {
        let (dir, other) = (directory(0o700), directory(0o700));
        if name == "seinpaal.db-wal" {
            Client::start(dir.path()).end();
            fs::remove_file(dir.path().join(name)).unwrap();
        }
        let victim = other.path().join("victim");
        match name {
            "inbox" | "presence" => fs::create_dir(&victim).unwrap(),
            _ => fs::write(&victim, "").unwrap(),
        }
        symlink(&victim, dir.path().join(name)).unwrap();
        let said = refusal(dir.path());
        assert!(said.starts_with("Forbidden ") && said.contains("symbolic link"), "{name}: {said}");
        assert!(said.contains(name), "{name}: {said}");
        assert!(fs::metadata(&victim).unwrap().is_dir() || fs::read(&victim).unwrap().is_empty());
    }
}

#[test]
fn a_directory_that_a_stranger_made_where_everybody_can_is_not_used() {
    require_root();
    for mode in [0o700, 0o2770, 0o777, 0o1777] {
        let parent = directory(0o1777);
        let dir = parent.path().join("store");
        fs::create_dir(&dir).unwrap();
        chown(&dir, Some(NOBODY), Some(NOBODY)).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
        let said = refusal(&dir);
        assert!(said.starts_with("Forbidden ") && said.contains("user 65534"), "{mode:o}: {said}");
        assert_eq!(files(&dir), [""; 0], "{mode:o}");
    }
}

#[test]
fn a_file_of_a_stranger_in_a_private_directory_is_not_used() {
    require_root();
    let dir = directory(0o700);
    Client::start(dir.path()).end();
    chown(dir.path().join("seinpaal.db"), Some(NOBODY), None).unwrap();
    let said = refusal(dir.path());
    assert!(said.starts_with("Forbidden ") && said.contains("user 65534"), "{said}");
}

#[test]
fn a_link_to_the_directory_is_followed_if_it_is_ours_and_not_if_it_is_a_strangers() {
    require_root();
    let (dir, place) = (directory(0o700), directory(0o700));
    let link = place.path().join("link");
    symlink(dir.path(), &link).unwrap();
    Client::start(&link).end();
    lchown(&link, Some(NOBODY), None).unwrap();
    let said = refusal(&link);
    assert!(said.starts_with("Forbidden ") && said.contains("symbolic link"), "{said}");
}

#[test]
fn newcomers_and_clients_inside_are_told_which_process_keeps_the_gate_locked() {
    let dir = directory(0o700);
    let mut client = Client::start(dir.path());
    let gate = fs::File::open(dir.path().join("gate")).unwrap();
    rustix::fs::flock(&gate, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let who = format!("process {}", std::process::id());
    let newcomer = Client::spawn(command(dir.path(), &[]));
    for said in [client.order("try n 1 1"), newcomer.line()] {
        assert!(said.starts_with("Unreachable ") && said.contains(&who), "{said}");
    }
    drop(gate);
    let begin = std::time::Instant::now();
    while client.order("try n 1 2") != "busy" {
        assert!(
            begin.elapsed().as_secs() < 60,
            "the request is not executed although the gate is open"
        );
    }
}

#[test]
fn a_user_who_may_not_write_is_refused_and_nothing_is_written() {
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

#[test]
fn a_file_that_is_not_a_database_is_refused_and_left_alone() {
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
    assert_eq!(files(&dir.path().join("presence")).len(), 2);
    assert_eq!(client.order("acquire n 1 1"), "granted");
    client.end();
    assert_eq!(files(&dir.path().join("presence")), [""; 0]);
    assert_eq!(Client::start(dir.path()).order("try n 1 2"), "granted");
}
