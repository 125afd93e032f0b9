//! Jobs that a clock starts.

use std::time::SystemTime;

use super::{Gate, Scene, well};
use crate::support::until;

pub(super) fn one_of_several_machines(scene: &Scene) {
    let line = scene.line("--once-per 1h reports");
    scene.script("reports.sh", "mkdir failed 2>/dev/null && exit 3; echo ran >>ran");
    within_one_hour(scene, || {
        let mut machines: Vec<_> = (0..4).map(|_| scene.started(line)).collect();
        let mut codes: Vec<_> = machines.iter_mut().map(|machine| machine.end().code).collect();
        codes.sort_unstable();
        let late = scene.typed(line);
        (codes, late.code, late.err, scene.lines_in("ran"))
    });
    kept_for_a_while(scene);
}

/// Plays the situation again if a new hour began meanwhile, because the job then has to run again.
fn within_one_hour(scene: &Scene, play: impl Fn() -> (Vec<i32>, i32, String, usize)) {
    loop {
        let began = hour();
        let told = play();
        if hour() == began {
            assert_eq!(
                told,
                (vec![0, 0, 0, 3], 0, String::new(), 1),
                "one failed, the next ran it"
            );
            return;
        }
        std::fs::remove_dir(scene.world.path("failed")).unwrap();
        std::fs::remove_file(scene.world.path("ran")).unwrap();
    }
}

fn hour() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 3600
}

/// Plays the part of the page about a failed job that must not be tried on another machine.
fn kept_for_a_while(scene: &Scene) {
    let line = "seinpaal run --min-hold 1m -n -E 0 payments -- ./payments.sh";
    scene.script("payments.sh", "echo ran >>paid; exit 3");
    let mut first = scene.started(line);
    until("it has run", || scene.lines_in("paid") == 1);
    well(&scene.typed(line));
    assert_eq!(scene.lines_in("paid"), 1);
    let ticket = scene.world.show("payments")["holders"][0]["ticket"].as_str().unwrap().to_owned();
    assert_eq!(scene.typed(&format!("seinpaal evict payments {ticket}")).code, 0);
    assert_eq!(first.end().code, 3);
}

pub(super) fn crontab(scene: &Scene) {
    let lines: Vec<_> = scene.lines.iter().collect();
    assert_eq!(lines.len(), 6, "another line needs another play: {lines:?}");
    skips(scene, scene.line("-n -E 0 nightly"), "nightly.sh");
    does_not_pile_up(scene, scene.line("--max-waiting 1"));
    two_of_all(scene, scene.line("backup.sh"), scene.line("reindex.sh"));
    scene.script("hourly.sh", "echo ran >>hourly");
    well(&scene.typed(scene.line("--once-per 1h hourly")));
    assert_eq!(scene.lines_in("hourly"), 1);
    ends_what_hangs(scene, scene.line("--max-hold 2h"));
}

fn skips(scene: &Scene, line: &str, script: &str) {
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, script, "echo runs");
    let (mut last, _) = scene.running(line);
    well(&scene.typed(line));
    gate.open();
    assert_eq!(last.end().code, 0);
}

fn does_not_pile_up(scene: &Scene, line: &str) {
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "reports.sh", "echo runs");
    let (mut first, _) = scene.running(line);
    let mut second = scene.waiting(line, "reports", 1);
    let third = scene.typed(line);
    assert_eq!((third.code, third.out.as_str()), (0, ""), "one waits already: {third:?}");
    gate.open();
    assert_eq!((first.end().code, second.end().code), (0, 0));
}

fn two_of_all(scene: &Scene, backup: &str, reindex: &str) {
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "backup.sh", "echo runs");
    scene.waits_at(&gate, "reindex.sh", "echo runs");
    let mut two = [scene.running(backup), scene.running(reindex)];
    let mut third = scene.waiting(backup, "heavy", 1);
    assert_eq!(scene.counts("heavy"), (2, 1));
    gate.open();
    assert!(two.iter_mut().all(|(job, _)| job.end().code == 0));
    assert_eq!(third.end().code, 0);
}

fn ends_what_hangs(scene: &Scene, line: &str) {
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "nightly.sh", "echo hangs");
    let (mut hangs, _) = scene.running(&line.replace("2h", "1s"));
    assert_eq!(hangs.end().code, 124);
    gate.open();
    assert_eq!(scene.typed(line).code, 0);
}
