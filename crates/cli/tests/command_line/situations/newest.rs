//! Jobs that run without a permit, and jobs that send others away.

use super::{Gate, Scene, well};

pub(super) fn the_job_matters_more(scene: &Scene) {
    let line = scene.line("--on-unreachable run");
    scene.script("bin/make", "echo ${SEINPAAL_NAME-no permit}; exit 2");
    let done = scene.typed(line);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (2, "builds\n", ""), "{done:?}");
    // There is no such server. The variable before the command overrides the world's own store.
    let done =
        scene.typed(&format!("SEINPAAL_STORE=redis://127.0.0.1:1?connect-timeout=1s {line}"));
    assert_eq!((done.code, done.out.as_str()), (2, "no permit\n"), "{done:?}");
    assert_eq!(done.err.lines().count(), 1, "one line says so: {done:?}");
    assert!(done.err.contains("without a permit"), "{done:?}");
}

pub(super) fn only_the_newest(scene: &Scene) {
    replaces_who_waits(scene, scene.line("replace-waiting"));
    cancels_what_runs(scene, scene.line("cancel-running"));
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "long.sh", "echo runs");
    let (mut long, _) = scene.running("seinpaal run skipped ./long.sh");
    well(&scene.typed("seinpaal run --on-conflict skip skipped -- echo ran"));
    gate.open();
    assert_eq!(long.end().code, 0);
}

fn replaces_who_waits(scene: &Scene, line: &str) {
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "deploy.sh", "echo deploys");
    let (mut first, _) = scene.running(line);
    let mut second = scene.waiting(line, "deploy", 1);
    let mut third = scene.started(line);
    let sent_away = second.end();
    assert_eq!((sent_away.code, sent_away.out.as_str()), (75, ""), "{sent_away:?}");
    scene.world.until_waiting("deploy", 1);
    assert_eq!(scene.counts("deploy"), (1, 1), "the one that runs is left alone");
    gate.open();
    assert_eq!(first.end().code, 0);
    let done = third.end();
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
}

fn cancels_what_runs(scene: &Scene, line: &str) {
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "build-preview.sh", "echo builds");
    let (mut first, _) = scene.running(line);
    let (mut second, _) = scene.running(line);
    assert_eq!(first.end().code, 122);
    gate.open();
    let done = second.end();
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
}
