//! Starts a program without copying this process. The child borrows our memory until it becomes the
//! program, and this thread stands still meanwhile. A copy of the process has to be set up page by
//! page, and each page that either process writes afterwards is copied. Together that took longer
//! than the store.

use std::{
    ffi::{CString, OsStr, OsString, c_char, c_int, c_void},
    io,
    os::unix::ffi::OsStrExt,
    path::Path,
    ptr,
    sync::atomic::{AtomicI32, Ordering},
};

use nix::{
    libc,
    sys::signal::{SigSet, SigmaskHow, pthread_sigmask},
};

/// The size of the child's stack: enough for the system calls of `setup`, with room to spare.
const STACK: usize = 128 * 1024;

/// A program, its words and its environment, as the kernel takes them.
pub(crate) struct Image {
    program: CString,
    words: Vec<CString>,
    variables: Vec<CString>,
}

impl Image {
    /// Makes an image. Fails if a word contains a zero byte, because the kernel does not accept
    /// one.
    pub(crate) fn new(
        program: &Path,
        words: &[OsString],
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<Self> {
        let variable = |(key, value): (OsString, OsString)| {
            zero_ended([key.as_os_str(), OsStr::new("="), value.as_os_str()])
        };
        Ok(Self {
            program: zero_ended([program.as_os_str()])?,
            words: words
                .iter()
                .map(|word| zero_ended([word.as_os_str()]))
                .collect::<Result<_, _>>()?,
            variables: variables.into_iter().map(variable).collect::<Result<_, _>>()?,
        })
    }
}

fn zero_ended<'a>(parts: impl IntoIterator<Item = &'a OsStr>) -> io::Result<CString> {
    let bytes = parts.into_iter().flat_map(OsStr::as_bytes).copied().collect::<Vec<_>>();
    Ok(CString::new(bytes)?)
}

/// The task of the child.
struct Task<'a> {
    program: *const c_char,
    words: Vec<*const c_char>,
    variables: Vec<*const c_char>,
    setup: &'a mut dyn FnMut() -> io::Result<()>,
    /// The error number, if the child could not become the program. Otherwise 0.
    error: AtomicI32,
}

/// Starts the program, and returns its process id. `setup` runs in the child first, with all
/// signals blocked. It sets the mask that the program starts with, and before that the actions of
/// the signals that have handlers of ours.
///
/// `setup` may do system calls and nothing else: no allocation, no lock, no panic.
pub(crate) fn start(image: &Image, setup: &mut dyn FnMut() -> io::Result<()>) -> io::Result<i32> {
    let pointers = |strings: &[CString]| {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>()
    };
    let (words, variables) = (pointers(&image.words), pointers(&image.variables));
    let error = AtomicI32::new(0);
    let mut task = Task { program: image.program.as_ptr(), words, variables, setup, error };
    let stack = Stack::new()?;
    // A handler of ours that ran in the child would write into our memory.
    let mut before = SigSet::empty();
    pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), Some(&mut before))?;
    // SAFETY: `become_it` gets a task and a stack that outlive it, because with CLONE_VFORK this
    // call returns when the child has become the program or has ended. It runs beside no code of
    // this thread. Other threads of ours run on. The child takes no lock and allocates nothing, so
    // it neither waits for them nor disturbs them. It changes only its own handlers, mask, group
    // and flags of descriptors, because only the memory is shared.
    let pid = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(become_it, stack.top(), flags, (&raw mut task).cast::<c_void>())
    };
    let started = if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) };
    pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None)?;
    match (started?, task.error.load(Ordering::Relaxed)) {
        (pid, 0) => Ok(pid),
        (pid, error) => {
            reap(pid);
            Err(io::Error::from_raw_os_error(error))
        }
    }
}

/// Runs in the child. It never returns, and a panic in it ends the child alone.
extern "C" fn become_it(task: *mut c_void) -> c_int {
    // SAFETY: `start` passes its task, which no other code touches until this child is done with
    // the memory.
    let task = unsafe { &mut *task.cast::<Task<'_>>() };
    let error = task.run();
    task.error.store(error.raw_os_error().unwrap_or(libc::EINVAL), Ordering::Relaxed);
    // SAFETY: this ends the child, and runs no handlers of ours on the way.
    unsafe { libc::_exit(127) }
}

impl Task<'_> {
    fn run(&mut self) -> io::Error {
        if let Err(error) = (self.setup)() {
            return error;
        }
        // SAFETY: the three point to strings and lists that end as the kernel expects, and that
        // `start` keeps.
        unsafe { libc::execve(self.program, self.words.as_ptr(), self.variables.as_ptr()) };
        io::Error::last_os_error()
    }
}

fn reap(pid: i32) {
    // SAFETY: this waits for a child that has ended, and the null pointer asks for no status.
    while unsafe { libc::waitpid(pid, ptr::null_mut(), 0) } == -1
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// The memory of a stack. Only pages that are used cost anything.
struct Stack(*mut c_void);

impl Stack {
    fn new() -> io::Result<Self> {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: this makes new memory, and touches no existing memory.
        let base = unsafe { libc::mmap(ptr::null_mut(), STACK, access, kind, -1, 0) };
        if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self(base)) }
    }

    /// Returns the address at which the stack begins. Stacks grow down, and begin at a multiple of
    /// 16, as the end of a page is.
    fn top(&self) -> *mut c_void {
        self.0.wrapping_byte_add(STACK)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: `new` made this memory, and the child that used it is done with it.
        unsafe { libc::munmap(self.0, STACK) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn image(program: &str, words: &[&str]) -> Image {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Image::new(Path::new(program), &words, [("A".into(), "b c".into())]).unwrap()
    }

    fn status(pid: i32) -> i32 {
        let pid = rustix::process::Pid::from_raw(pid);
        let (_, status) =
            rustix::process::waitpid(pid, rustix::process::WaitOptions::empty()).unwrap().unwrap();
        status.exit_status().unwrap()
    }

    #[test]
    fn a_program_gets_its_words_and_its_environment_and_no_other() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script =
            format!("echo \"$0 $1 $A $(env | wc -l)\" > {}; exit 7", file.path().display());
        let mut ran = 0;
        let words = ["sh", "-c", &script, "zero", "one"];
        let pid = start(&image("/bin/sh", &words), &mut || {
            ran += 1;
            pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)
                .map_err(io::Error::from)
        });
        assert_eq!(status(pid.unwrap()), 7);
        assert_eq!(ran, 1, "it shares our memory");
        let said = fs::read_to_string(file.path()).unwrap();
        assert!(said.starts_with("zero one b c "), "{said}");
    }

    #[test]
    fn a_program_that_cannot_be_started_leaves_no_child() {
        let error = start(&image("/etc/passwd", &["x"]), &mut || Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let refusal = &mut || Err(io::Error::from_raw_os_error(libc::ESRCH));
        let error = start(&image("/bin/true", &["true"]), refusal).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ESRCH));
        let words: Vec<OsString> = vec!["a\0b".into()];
        assert!(Image::new(Path::new("/bin/true"), &words, []).is_err());
    }

    #[test]
    fn our_mask_is_afterwards_what_it_was_before() {
        let before = SigSet::thread_get_mask().unwrap();
        let pid = start(&image("/bin/true", &["true"]), &mut || Ok(())).unwrap();
        assert_eq!(SigSet::thread_get_mask().unwrap(), before);
        assert_eq!(status(pid), 0);
    }
}
