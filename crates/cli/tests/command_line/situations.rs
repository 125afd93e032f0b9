//! Tests of the situations of `docs/guide/run.md` and the crontab of `docs/guide/schedules.md`.
//! Each is played with the very lines of the page, on the embedded store and on a server, and must
//! end as the page says.

mod jobs;
mod lines;
mod newest;
mod schedules;
mod scripts;

use std::{env, fs, os::unix, process::Command};

use super::support::{Done, Held, World, both, gate::Gate, program};
use lines::{RUN, SCHEDULES, commands_of, titles_of};

/// Makes a test for each situation, with the lines that stand beneath its title, and a test that no
/// situation is left out.
macro_rules! situations {
    ($($name:ident: $title:literal, $play:path;)*) => {
        $(#[test]
        fn $name() {
            for world in both() {
                $play(&Scene::new(world, commands_of(RUN, $title)));
            }
        })*

        #[test]
        fn each_situation_of_the_page_is_played() {
            assert_eq!(titles_of(RUN), [$($title),*]);
        }
    };
}

situations! {
    a_tick_is_skipped_while_the_last_one_runs:
        "Two cron ticks must not overlap.", jobs::ticks_that_do_not_overlap;
    four_builds_run_and_the_others_follow_in_order:
        "At most four builds on this machine, in order.", jobs::four_builds_in_order;
    each_job_has_a_gpu_of_its_own:
        "One GPU each.", jobs::one_gpu_each;
    a_job_waits_for_the_board_that_it_names:
        "Boards that have names.", jobs::boards_that_have_names;
    a_large_job_is_not_passed_by_small_ones:
        "A large job needs two of four permits.", jobs::a_large_job;
    readers_and_writers_stand_in_one_line:
        "Many readers or one writer.", jobs::readers_and_writers;
    a_job_has_both_resources_or_waits:
        "Two resources at once.", jobs::two_resources;
    a_script_calls_another_with_the_same_lock:
        "A script that calls another script with the same lock.", scripts::one_calls_another;
    one_of_several_machines_runs_the_job:
        "Several machines start the same cron job", schedules::one_of_several_machines;
    a_user_who_waits_takes_nothing_of_what_all_share:
        "A limit per user within a limit for all.", jobs::a_limit_within_a_limit;
    a_job_runs_though_the_server_cannot_be_reached:
        "The job matters more than the limit.", newest::the_job_matters_more;
    the_newest_sends_the_others_away:
        "Only the newest matters.", newest::only_the_newest;
    a_script_keeps_a_permit_over_several_commands:
        "A permit for more than one command.", scripts::more_than_one_command;
}

#[test]
fn each_line_of_the_crontab_does_what_the_page_says() {
    for world in both() {
        let lines = lines::crontab_of(SCHEDULES);
        schedules::crontab(&Scene::new(world, lines));
    }
}

/// A world in which the program is on PATH, and the lines of one situation.
struct Scene {
    world: World,
    lines: Vec<String>,
}

impl Scene {
    fn new(world: World, lines: Vec<String>) -> Self {
        fs::create_dir(world.path("bin")).unwrap();
        unix::fs::symlink(program(), world.path("bin/seinpaal")).unwrap();
        Self { world, lines }
    }

    /// Returns the one line that has these words.
    fn line(&self, words: &str) -> &str {
        let found: Vec<_> = self.lines.iter().filter(|line| line.contains(words)).collect();
        assert_eq!(found.len(), 1, "lines with {words:?} among {:?}", self.lines);
        found[0]
    }

    /// Writes a script at this path, which the lines of the page call.
    fn script(&self, path: &str, words: &str) {
        let path = self.world.path(path);
        fs::write(&path, format!("#!/bin/sh\n{words}\n")).unwrap();
        let mode = <fs::Permissions as unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(path, mode).unwrap();
    }

    /// Writes a script that prints something, and then lives until the gate is opened.
    fn waits_at(&self, gate: &Gate, path: &str, says: &str) {
        let hold = gate.hold().strip_prefix("echo $$; ").unwrap();
        self.script(path, &format!("{says}\n{hold}"));
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.world.shell_command(line);
        let path = env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.world.path("bin").display()));
        command
    }

    /// Types a line, and waits for its end.
    fn typed(&self, line: &str) -> Done {
        self.started(line).end()
    }

    /// Types a line, and does not wait for its end.
    fn started(&self, line: &str) -> Held {
        Held::start(self.command(line))
    }

    /// Types a line whose script prints something, and waits for that.
    fn running(&self, line: &str) -> (Held, String) {
        let mut held = self.started(line);
        let said = held.line();
        assert!(!said.is_empty(), "{line}: {:?}", held.end());
        (held, said)
    }

    /// Types a line whose run has to wait, as the last of `many` waiters.
    fn waiting(&self, line: &str, name: &str, many: usize) -> Held {
        let held = self.started(line);
        self.world.until_waiting(name, many);
        held
    }

    /// Returns the numbers of held permits and of waiters that `show` lists for a name.
    fn counts(&self, name: &str) -> (u64, usize) {
        let shown = self.world.show(name);
        (shown["permits_held"].as_u64().unwrap(), shown["waiters"].as_array().unwrap().len())
    }

    /// Counts the lines of a file of the scene.
    fn lines_in(&self, file: &str) -> usize {
        fs::read_to_string(self.world.path(file)).map_or(0, |text| text.lines().count())
    }
}

/// Checks that a command succeeded and printed nothing.
fn well(done: &Done) {
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""), "{done:?}");
}
