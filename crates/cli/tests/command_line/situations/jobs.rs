//! Jobs that share a machine.

use super::{Gate, Scene, well};

pub(super) fn ticks_that_do_not_overlap(scene: &Scene) {
    let [line] = &scene.lines[..] else { panic!("{:?}", scene.lines) };
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "nightly.sh", "echo tick | tee -a ran");
    let (mut last, _) = scene.running(line);
    well(&scene.typed(line));
    gate.open();
    assert_eq!(last.end().code, 0);
    assert_eq!(scene.lines_in("ran"), 1);
    assert_eq!((scene.typed(line).code, scene.lines_in("ran")), (0, 2));
}

pub(super) fn four_builds_in_order(scene: &Scene) {
    let line = scene.line("-j 4 builds");
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "bin/make", "echo $SEINPAAL_FENCE $*");
    let mut builds: Vec<_> = (0..4).map(|_| scene.running(line)).collect();
    assert!(builds.iter().all(|(_, said)| said.ends_with(" -j2")), "it is make that runs");
    let mut late: Vec<_> = (1..=3).map(|many| scene.waiting(line, "builds", many)).collect();
    assert_eq!(scene.counts("builds"), (4, 3));
    let other = scene.typed("seinpaal run -j 5 builds true");
    assert_eq!(other.code, 78, "{other:?}");
    assert!(other.err.contains("is 4") && other.err.contains("says 5"), "{other:?}");
    gate.open();
    assert!(builds.iter_mut().all(|(build, _)| build.end().code == 0));
    let fences: Vec<_> = late.iter_mut().map(|build| fence(&build.end().out)).collect();
    assert!(fences.is_sorted(), "they had their permits in order: {fences:?}");
    // The page says that the limit is stored for good, and that -j is no longer needed.
    assert_eq!(scene.typed("seinpaal limit builds 4").code, 0);
    let done = scene.typed("seinpaal run builds sh -c 'echo $SEINPAAL_LIMIT'");
    assert_eq!(done.out, "4\n", "{done:?}");
}

fn fence(said: &str) -> u64 {
    said.split(' ').next().unwrap().parse().unwrap()
}

pub(super) fn one_gpu_each(scene: &Scene) {
    let line = scene.line("-j 4 gpus");
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "train.sh", "echo $CUDA_VISIBLE_DEVICES");
    let mut jobs: Vec<_> = (0..4).map(|_| scene.running(line)).collect();
    let mut gpus: Vec<_> = jobs.iter().map(|(_, gpu)| gpu.as_str()).collect();
    gpus.sort_unstable();
    assert_eq!(gpus, ["0", "1", "2", "3"]);
    gate.open();
    assert!(jobs.iter_mut().all(|(job, _)| job.end().code == 0));
}

pub(super) fn boards_that_have_names(scene: &Scene) {
    assert_eq!(scene.typed(scene.line("--slots")).code, 0);
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "flash.sh", "echo $1");
    scene.waits_at(&gate, "measure.sh", "echo $SEINPAAL_SLOT_NAME");
    let (mut first, said) = scene.running(scene.line("./flash.sh"));
    assert_eq!(said, "GPU-0", "the lowest that is free");
    let wish = scene.line("--slot board-b");
    let (mut measures, said) = scene.running(wish);
    assert_eq!(said, "board-b");
    let mut second = scene.waiting(wish, "boards", 1);
    let (mut beside, said) = scene.running(scene.line("./flash.sh"));
    assert_eq!(said, "GPU-1", "a waiter for a board delays no other waiter");
    let none = scene.typed("seinpaal run boards --slot board-c true");
    assert_eq!(none.code, 78, "{none:?}");
    assert!(none.err.contains("board-c") && none.err.contains("GPU-0, GPU-1, board-b"), "{none:?}");
    assert_eq!(scene.typed("seinpaal limit boards --slots GPU-1,GPU-0,board-b").code, 78);
    let line = "seinpaal limit boards --slots GPU-0,GPU-1,board-b,board-c";
    assert_eq!(scene.typed(line).code, 0, "at the end one can be added");
    gate.open();
    for job in [&mut first, &mut measures, &mut second, &mut beside] {
        assert_eq!(job.end().code, 0);
    }
}

pub(super) fn a_large_job(scene: &Scene) {
    let line = scene.line("-p 2 gpus");
    let (gate, large) = (Gate::new(&scene.world), Gate::new(&scene.world));
    scene.waits_at(&gate, "small.sh", "echo small");
    scene.waits_at(&large, "train-large.sh", "echo $SEINPAAL_PERMITS");
    let small = "seinpaal run -j 4 gpus -- ./small.sh";
    let mut running: Vec<_> = (0..3).map(|_| scene.running(small)).collect();
    let mut job = scene.waiting(line, "gpus", 1);
    let done = scene.typed("seinpaal run -n -j 4 gpus -- true");
    assert_eq!(done.code, 75, "one permit is free, and the large job is before it: {done:?}");
    gate.open();
    assert_eq!(job.line(), "2");
    large.open();
    assert_eq!(job.end().code, 0);
    assert!(running.iter_mut().all(|(small, _)| small.end().code == 0));
}

pub(super) fn readers_and_writers(scene: &Scene) {
    let (read, write) = (scene.line("--shared"), scene.line("--exclusive"));
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "render.sh", "echo render | tee -a order");
    scene.script("publish.sh", "echo publish | tee -a order");
    let mut readers = [scene.running(read), scene.running(read)];
    let mut writer = scene.waiting(write, "pages", 1);
    let mut late = scene.waiting(read, "pages", 2);
    gate.open();
    assert!(readers.iter_mut().all(|(reader, _)| reader.end().code == 0));
    assert_eq!((writer.end().code, late.end().code), (0, 0));
    let order = std::fs::read_to_string(scene.world.path("order")).unwrap();
    assert_eq!(order, "render\nrender\npublish\nrender\n");
}

pub(super) fn two_resources(scene: &Scene) {
    let line = scene.line("--also licence");
    let (gate, taken) = (Gate::new(&scene.world), Gate::new(&scene.world));
    scene.waits_at(&gate, "train.sh", "echo trains");
    scene.waits_at(&taken, "editor.sh", "echo edits");
    let (mut editor, _) = scene.running("seinpaal run licence ./editor.sh");
    let mut job = scene.waiting(line, "licence", 1);
    taken.open();
    assert_eq!(editor.end().code, 0);
    assert_eq!(job.line(), "trains");
    assert_eq!((scene.counts("gpus").0, scene.counts("licence").0), (1, 1));
    gate.open();
    assert_eq!(job.end().code, 0);
    assert_eq!((scene.counts("gpus").0, scene.counts("licence").0), (0, 0));
}

pub(super) fn a_limit_within_a_limit(scene: &Scene) {
    let line = scene.line("--within all");
    assert_eq!(scene.typed("seinpaal limit all 3").code, 0);
    let gate = Gate::new(&scene.world);
    scene.waits_at(&gate, "job.sh", "echo works");
    let mut jobs = [scene.running(line), scene.running(line)];
    let mut third = scene.waiting(line, "user/ann", 1);
    assert_eq!(scene.counts("all"), (2, 0), "ann's third job takes none of those that all share");
    let bob = line.replace("user/ann", "user/bob").replace("./job.sh", "echo bob");
    let bob = scene.typed(&bob);
    assert_eq!((bob.code, bob.out.as_str()), (0, "bob\n"), "{bob:?}");
    gate.open();
    assert!(jobs.iter_mut().all(|(job, _)| job.end().code == 0));
    assert_eq!(third.end().code, 0);
}
