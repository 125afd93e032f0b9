//! The embedded store, in a file system of its own where the rig may mount one, so that its disk
//! can be full.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

use super::StartedStore;
use crate::{fault::TortureFault, scene::FaultScene};

const MS: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Embedded {
    dir: TempDir,
    is_own: bool,
}

impl Embedded {
    pub(super) fn start() -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        let is_own = mount("none", dir.path(), "tmpfs", MountFlags::empty(), Some(c"size=16m"));
        fs::create_dir(dir.path().join("store"))?;
        Ok(Self { dir, is_own: is_own.is_ok() })
    }

    fn place(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// Fills the disk, and makes room again.
    fn fill(&self, scene: &mut FaultScene<'_>) -> io::Result<()> {
        if !self.is_own {
            return Err(io::Error::other("only root can mount the small disk for this"));
        }
        let ballast = self.dir.path().join("ballast");
        fill(&ballast);
        scene.wait(100 * MS, scene.ttl);
        fs::remove_file(ballast)
    }
}

fn fill(file: &Path) {
    use io::Write;
    let Ok(mut file) = fs::File::create(file) else { return };
    for size in [1 << 20, 1 << 12] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if self.is_own {
            // A failure leaves the small disk mounted until the machine stops, which does no harm.
            let _ = unmount(self.dir.path(), UnmountFlags::DETACH);
        }
    }
}

impl StartedStore for Embedded {
    fn upstreams(&self) -> Vec<u16> {
        Vec::new()
    }

    fn url(&self, _: &[u16]) -> String {
        format!("file://{}", self.place().display())
    }

    fn inject(&mut self, fault: TortureFault, scene: &mut FaultScene<'_>) -> io::Result<()> {
        match fault {
            TortureFault::DiskFull => self.fill(scene),
            TortureFault::ClockServer => {
                scene.set_clock("machine");
                Ok(())
            }
            other => Err(io::Error::other(format!("{other} is not for this store"))),
        }
    }

    fn kept(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new()) // the API lists every row of the store
    }
}
