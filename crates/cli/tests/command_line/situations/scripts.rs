//! Scripts that hold a permit, and call others.

use std::process::Command;

use super::{
    super::support::{Done, until},
    Scene,
};

pub(super) fn one_calls_another(scene: &Scene) {
    scene.script("outer.sh", "echo outer; ./inner.sh");
    scene.script("inner.sh", "seinpaal run deploy -- sh -c 'echo inner; exit 5'");
    let done = scene.typed("seinpaal run deploy -- ./outer.sh");
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (5, "outer\ninner\n", ""));
    scene.script("inner.sh", "seinpaal run --no-reenter -n deploy -- echo inner");
    let done = scene.typed("seinpaal run deploy -- ./outer.sh");
    assert_eq!((done.code, done.out.as_str()), (75, "outer\n"), "{done:?}");
}

/// Plays the two scripts of the page. One renews its ticket, and the other names its process.
pub(super) fn more_than_one_command(scene: &Scene) {
    let second = scene.lines.iter().position(|line| line.contains("--while-pid")).unwrap();
    let (by_ticket, by_process) = scene.lines.split_at(second);
    scene.script("build.sh", "seinpaal show --json deploy >built");
    scene.script("upload.sh", "touch uploaded");
    for script in [by_ticket, by_process] {
        let done = bash(scene, script);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""), "{done:?}");
        let built = std::fs::read_to_string(scene.world.path("built")).unwrap();
        assert!(built.contains("\"permits_held\":1"), "{built}");
        std::fs::remove_file(scene.world.path("uploaded")).unwrap();
        until("it is free", || scene.counts("deploy").0 == 0);
    }
    scene.script("build.sh", "kill -9 $PPID");
    assert_eq!(bash(scene, by_process).code, -1, "it was killed");
    until("the permit of a killed script is free", || scene.counts("deploy").0 == 0);
    assert_eq!(bash(scene, by_ticket).code, -1);
    assert_eq!(scene.counts("deploy").0, 1, "of the other it is kept for its ttl");
}

/// Runs the lines as one script, as a user would run a file of them.
fn bash(scene: &Scene, lines: &[String]) -> Done {
    scene.script("script.sh", &lines.join("\n"));
    let mut command: Command = scene.command("exec ./script.sh");
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap_or(-1);
    Done { code, out: text(output.stdout), err: text(output.stderr) }
}
