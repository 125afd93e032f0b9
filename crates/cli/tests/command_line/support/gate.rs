//! Something for commands to wait at whose stdin is taken.

use std::{
    cell::Cell,
    fs::{self, OpenOptions},
    path::PathBuf,
    process::Command,
};

use super::{World, until};

/// A pipe with a name that nobody writes into. Those who read it wait, until it is opened for good.
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

    /// A script that says its process id, then lives until the gate is opened.
    pub(crate) fn hold(&self) -> &str {
        &self.script
    }

    /// Lets all through who wait, and who come later.
    pub(crate) fn open(&self) {
        // In one step: whoever comes while it is opened finds the pipe or the file, and never
        // nothing.
        let aside = self.path.with_extension("open");
        let file = self.path.with_extension("file");
        fs::hard_link(&self.path, &aside).unwrap();
        fs::write(&file, "").unwrap();
        fs::rename(&file, &self.path).unwrap();
        // A reader that was on its way opens the old or the new pipe. At the old one it waits for a
        // writer.
        until("nobody waits at the gate", || {
            let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
            let mut options = OpenOptions::new();
            std::os::unix::fs::OpenOptionsExt::custom_flags(options.write(true), flags);
            // ENXIO: no reader is there any more.
            options.open(&aside).is_err()
        });
    }
}
