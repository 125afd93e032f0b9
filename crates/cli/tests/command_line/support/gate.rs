//! A gate at which commands wait that cannot wait for their stdin.

use std::{
    cell::Cell,
    fs::{self, OpenOptions},
    path::PathBuf,
    process::Command,
};

use super::{World, until};

/// A named pipe that nobody writes into. Commands that read it wait until the gate is opened.
pub(crate) struct Gate {
    path: PathBuf,
    script: String,
}

thread_local! {
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

impl Gate {
    pub(crate) fn new(world: &World) -> Self {
        let name = format!("gate{}", NEXT.replace(NEXT.get() + 1));
        let path = world.path(&name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Self { path, script: format!("echo $$; exec cat {name}") }
    }

    /// Returns a script that prints its process id, and then lives until the gate is opened.
    pub(crate) fn hold(&self) -> &str {
        &self.script
    }

    /// Lets all commands through that wait now or come later.
    pub(crate) fn open(&self) {
        // The rename replaces the pipe by the file in one step, so a command that comes meanwhile
        // always finds one of them.
        let aside = self.path.with_extension("open");
        let file = self.path.with_extension("file");
        fs::hard_link(&self.path, &aside).unwrap();
        fs::write(&file, "").unwrap();
        fs::rename(&file, &self.path).unwrap();
        // A reader that was on its way may have opened the old pipe, and then it waits for a
        // writer. Opening the pipe for writing lets it go on.
        until("nobody waits at the gate", || {
            let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
            let mut options = OpenOptions::new();
            std::os::unix::fs::OpenOptionsExt::custom_flags(options.write(true), flags);
            // The open fails with ENXIO once no reader is left.
            options.open(&aside).is_err()
        });
    }
}
