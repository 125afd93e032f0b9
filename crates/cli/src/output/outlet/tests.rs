use std::{
    fs::File,
    io::{BufRead, BufReader},
    os::fd::{BorrowedFd, OwnedFd},
    sync::mpsc,
};

use super::*;

fn pipe() -> (BufReader<File>, OwnedFd) {
    let (reader, writer) = io::pipe().unwrap();
    (BufReader::new(OwnedFd::from(reader).into()), writer.into())
}

fn missed(lines: u64) -> Vec<u8> {
    format!("missed {lines}\n").into_bytes()
}

#[test]
fn lines_come_out_whole_and_in_order() {
    let (mut reader, writer) = pipe();
    let outlet = Outlet::open(writer, missed);
    for line in ["one\n", "two\n"] {
        outlet.send(line.into());
    }
    outlet.part();
    assert!(outlet.is_idle());
    let mut text = String::new();
    reader.read_line(&mut text).unwrap();
    reader.read_line(&mut text).unwrap();
    assert_eq!(text, "one\ntwo\n");
}

#[test]
fn a_reader_that_does_not_read_holds_nobody_up_and_is_told_how_much_it_missed() {
    for is_nonblocking in [false, true] {
        let (mut reader, writer) = pipe();
        rustix::io::ioctl_fionbio(&writer, is_nonblocking).unwrap();
        let outlet = Outlet::open(writer, missed);
        let sent = 3 * MOST_LINES as u64;
        for _ in 0..sent {
            outlet.send([&[b'x'; 1023][..], b"\n"].concat());
        }
        outlet.settle();
        assert!(!outlet.is_idle(), "a pipe has no room for all that");
        let mut line = String::new();
        let mut seen = 0;
        while !line.starts_with("missed") {
            seen += u64::from(line.starts_with('x'));
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        assert_eq!(line, format!("missed {}\n", sent - seen));
    }
}

/// A pipe that reports each use of its descriptor, to write or to see whether there is room.
struct Watched {
    pipe: OwnedFd,
    looks: mpsc::Sender<()>,
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        let _ = self.looks.send(()); // only the first look is waited for
        self.pipe.as_fd()
    }
}

#[test]
fn a_writer_that_gets_no_time_is_waited_for_while_there_is_room() {
    let (mut reader, writer) = pipe();
    let (looks, look) = mpsc::channel();
    let outlet = Outlet::shut(Watched { pipe: writer, looks });
    outlet.send(b"the last line\n".into());
    let late = outlet.clone();
    thread::spawn(move || {
        // At its end, a program looks for room after it has waited in vain.
        look.recv_timeout(LONG_PARTING).unwrap();
        late.shared.write_on(&*late.to, missed);
    });
    outlet.part();
    assert!(outlet.is_idle());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "the last line\n");
}

#[test]
fn the_end_of_the_program_is_not_held_up_by_a_reader_that_does_not_read() {
    let (_reader, writer) = pipe();
    let outlet = Outlet::open(writer, missed);
    for _ in 0..MOST_LINES {
        outlet.send([&[b'x'; 1023][..], b"\n"].concat());
    }
    let began = Instant::now();
    outlet.part();
    assert!(!outlet.is_idle() && began.elapsed() < LONG_PARTING);
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let (reader, writer) = pipe();
    let outlet = Outlet::open(writer, missed);
    drop(reader);
    outlet.send(b"one\n".into());
    outlet.part();
    outlet.send(b"two\n".into());
    assert!(outlet.is_idle());
}
